// Several real services on one store, and the quickest ways to people in it.
import { readConfig } from "../../../src/app/config.ts";
import { openServices } from "../../../src/app/services.ts";
import {
  type AuditVerdict,
  verifyAudit,
} from "../../../src/usecases/reputation/audit/verify-audit.ts";
import { ADMIN_ENV, jsonBody, Person } from "../../http/reputation/people.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const UNLIMITED = { plan: "enterprise", rate_limit_per_minute: 1_000_000_000 };

/** Starts services on one store, with the administrator `root`. */
export async function startServices(
  count: number,
  { storageUrl, env = {} }: { storageUrl: string; env?: Record<string, string> },
): Promise<ServiceProcess[]> {
  const plenty = { ACCOUNT_WRITES_PER_MINUTE: "100000" };
  const all = { ...ADMIN_ENV, ...plenty, STORAGE_URL: storageUrl, TRUSTED_PROXY_HOPS: "1", ...env };
  return await Promise.all(Array.from({ length: count }, () => startService({ env: all })));
}

/** The service, asked again while it answers 503: on a very busy machine a request may need more time than it has. D-8.3. */
export function patient(service: ServiceProcess): ServiceProcess {
  return {
    ...service,
    async send(path, options) {
      for (;;) {
        const reply = await service.send(path, options);
        if (reply.status !== 503) return reply;
      }
    },
  };
}

/** Gives an account a plan without limits, or the given one. */
export async function setPlan(
  service: ServiceProcess,
  username: string,
  plan: object = UNLIMITED,
): Promise<void> {
  const root = await Person.signIn(service, "root");
  const reply = await root.send(`/v1/admin/accounts/${username}/plan`, jsonBody(plan, "PUT"));
  if (reply.status !== 200) throw new Error(reply.text);
}

/** Verifies the audit of a store as an instance of its own does. */
export async function verifyStore(storageUrl: string): Promise<AuditVerdict> {
  const env = { STORAGE_URL: storageUrl, LOG_LEVEL: "silent" };
  const config = readConfig(env, () => "");
  const services = await openServices(config);
  try {
    return await verifyAudit(services.audit);
  } finally {
    await services.close();
  }
}
