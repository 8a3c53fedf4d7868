// The second half of the demo: a person, a business, consent, a lookup, revocation, and audit.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSyncClient, type JsonObject } from "repsync/client";
import type { usageBody } from "../../domain/reputation/accounts/call-meter.ts";
import type { AuditItem } from "../../domain/reputation/audit/audit-item.ts";
import type { ReputationBody } from "../../domain/reputation/score/profile.ts";
import { fromWire } from "../../domain/shared/wire-names.ts";
import {
  bearerHeader,
  callApi,
  callData,
  childEnvironment,
  type DemoDeployment,
  type Deployments,
  type Stage,
  SYNC_KEY,
} from "./deployments.ts";

const CLI = fileURLToPath(new URL("../main.ts", import.meta.url));
export const PERSON = {
  username: "sari",
  email: "sari@example.com",
  password: "sari-demo-password",
};
export const BUSINESS = {
  username: "toko",
  email: "toko@example.com",
  password: "toko-demo-password",
};

type Access = Pick<AuditItem, "at" | "account" | "purpose" | "decision" | "code">;

export async function showReputation(stage: Stage, deployments: Deployments) {
  const { output } = stage;
  const { url } = deployments.production;
  const post = { method: "POST", expect: 201 } as const;
  for (const body of [PERSON, BUSINESS]) await callData(`${url}/v1/signup`, { ...post, body });
  await syncPerson(deployments);
  const [person, business] = [await bearerHeader(url, PERSON), await bearerHeader(url, BUSINESS)];
  const issued = await callData<Record<"key" | "last4", string>>(`${url}/v1/me/api-keys`, {
    ...post,
    headers: business,
    body: { name: "seller checks" },
  });
  const headers = { "X-API-Key": issued.key };
  const lookupUrl = `${url}/v1/public/profiles/${PERSON.username}/reputation`;
  output.print(
    "",
    `Reputation: "${PERSON.username}" and "${BUSINESS.username}" have signed up at production, and the profile arrived by sync.`,
    `API key of "${BUSINESS.username}": rep_live_…${issued.last4}`,
  );

  const before = await refusalOf(lookupUrl, headers);
  output.print(`Lookup without consent: ${before}`);
  const consent = await callData<Record<"id", number>>(`${url}/v1/me/consents`, {
    ...post,
    headers: person,
    body: { purpose: "reputation_lookup" },
  });
  const startedAtMs = performance.now();
  const found = await callData<object>(lookupUrl, { headers });
  const elapsedMs = performance.now() - startedAtMs;
  const reputation = fromWire(found) as unknown as ReputationBody;
  output.print(
    `Lookup with consent: score ${reputation.score} of 100, ${"*".repeat(reputation.starLevel)} ` +
      `(${reputation.starLevel} of 5 stars), ${reputation.verifiedPlatforms} verified platforms, ` +
      `${elapsedMs.toFixed(1)} ms`,
    `Usage of "${BUSINESS.username}": ${await usageOf(url, business)}`,
  );
  await callData(`${url}/v1/me/consents/${consent.id}`, { method: "DELETE", headers: person });
  const after = await refusalOf(lookupUrl, headers);
  output.print(`Lookup after the consent was revoked: ${after}`);

  const { items: accesses } = await callData<Record<"items", readonly Access[]>>(
    `${url}/v1/me/accesses`,
    { headers: person },
  );
  output.print(`Who looked "${PERSON.username}" up, newest first:`, ...accesses.map(accessLine));
  const audit = await verifyAudit(stage, deployments.production);
  output.print(audit);
  const refused = "403 consent_required";
  const isAsExpected =
    [before, after].every((refusal) => refusal === refused) &&
    reputation.verifiedPlatforms === 3 &&
    accesses.map(({ decision }) => decision).join() === "denied,allowed,denied" &&
    audit.includes("is whole");
  return { reputation, accesses, audit, isAsExpected };
}

/** Writes the person's rows at the local deployment; a run pushes them to production. */
async function syncPerson({ local }: Deployments): Promise<void> {
  const client = createSyncClient({ baseUrl: local.url, key: SYNC_KEY });
  const rows = personRows(new Date().toISOString());
  const headers = await bearerHeader(local.url);
  for (const [table, records] of Object.entries(rows)) {
    await client.pushBatch(table, { records });
    const body = { direction: "push", table };
    const run = { method: "POST", headers, body } as const;
    const { status } = await callApi<Record<"status", string>>(
      `${local.url}/api/v1/sync/trigger`,
      run,
    );
    if (status !== "success") throw new Error(`The push of ${table} ended as ${status}`);
  }
}

/** Rows of the built-in tables. D-6.2. */
function personRows(now: string): Readonly<Record<string, readonly JsonObject[]>> {
  const { username } = PERSON;
  const account = (platform: string, handle: string, activity_count: number, since: string) => ({
    username,
    platform,
    handle,
    activity_count,
    account_created_at: `${since}T00:00:00Z`,
    verified: true,
    last_active_at: now,
    updated_at: now,
  });
  const profile = {
    username,
    display_name: "Sari Dewi",
    bio: "Batik, made to order",
    verified: true,
    profession: "crafts",
    location: "Yogyakarta",
    created_at: now,
    updated_at: now,
  };
  return {
    profiles: [profile],
    platform_accounts: [
      {
        ...account("tokopedia", "saribatik", 1240, "2017-03-01"),
        rating: "4.9",
        rating_count: 860,
      },
      account("instagram", "sari.batik", 410, "2015-06-01"),
      account("github", "saridewi", 95, "2020-01-15"),
    ],
  };
}

async function refusalOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { code } = await callApi<Record<"code", string>>(url, { headers, expect: 403 });
  return `403 ${code}`;
}

async function usageOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const usage = await callData<ReturnType<typeof usageBody>>(`${url}/v1/me/usage`, { headers });
  const { plan, minute, month } = usage;
  return `plan ${plan}, ${minute.used} of ${minute.limit} calls this minute, ${month.used} of ${month.limit} this month`;
}

function accessLine({ at, account, purpose, decision, code }: Access): string {
  return `  ${at}  ${account}  ${purpose}  ${decision}${code === null ? "" : ` (${code})`}`;
}

/** Runs the command line beside the service, on its store. */
async function verifyAudit({ folder }: Stage, { settings }: DemoDeployment): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, "audit", "verify"], {
    cwd: folder,
    env: childEnvironment(settings),
  });
  return `repsync audit verify: ${stdout.trim()}`;
}
