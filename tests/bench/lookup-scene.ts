// Ten thousand people to look up, put into a store before the service starts, and a business that looks them up.

import { readConfig } from "../../src/config.ts";
import { NEW_ACCOUNT_PLAN } from "../../src/domain/reputation/accounts/plan.ts";
import type { Row, Table } from "../../src/domain/sync/table/table.ts";
import { openServices } from "../../src/services.ts";
import { sendJson, signInAdministrator } from "./administrator.ts";

/** People with a profile, three verified platforms and a consent. */
export const PEOPLE = 10_000;

const PLATFORMS = ["github", "linkedin", "tokopedia"];
/** What the account of every person has in common: only who has one can consent. */
const OWNER = {
  ...({ email: null, passwordHash: null, role: "user", issuer: "bench" } as const),
  ...NEW_ACCOUNT_PLAN,
};
const UPDATED_AT = "2026-01-01T00:00:00Z";
const PASSWORD = "bench-password";
const BATCH_ROWS = 5_000;
const RATE_PER_MINUTE = 999_999_999;

/** Username of a person, from 0 to `PEOPLE - 1`. */
export function personName(place: number): string {
  return `person-${place}`;
}

/** Makes the people in a store that nobody serves from. */
export async function makePeople(storageUrl: string): Promise<void> {
  const { config, problems } = readConfig(
    { STORAGE_URL: storageUrl, LOG_LEVEL: "silent" },
    () => "",
  );
  if (config === null) throw new Error(problems.join("\n"));
  const { storage, accounts, close } = await openServices(config);
  try {
    const names = Array.from({ length: PEOPLE }, (_, place) => personName(place));
    const write = async (table: Table | undefined, rows: readonly Row[]) => {
      if (table === undefined) throw new Error("A built-in table is missing");
      for (let from = 0; from < rows.length; from += BATCH_ROWS) {
        const batch = rows.slice(from, from + BATCH_ROWS);
        await storage.tables.write(
          table,
          batch.map((row, index) => ({ index, row })),
        );
      }
    };
    await write(
      config.registry.get("profiles"),
      names.map((username) => ({ username, display_name: username, updated_at: UPDATED_AT })),
    );
    await write(
      config.registry.get("platform_accounts"),
      names.flatMap((username) =>
        PLATFORMS.map((platform) => {
          const account = { username, platform, handle: username, verified: true };
          return { ...account, activity_count: 40, updated_at: UPDATED_AT };
        }),
      ),
    );
    const nowMs = Date.now();
    const grant = { purpose: "reputation_lookup", expiresAt: null, nowMs } as const;
    for (const username of names) {
      await storage.accounts.create({ ...OWNER, username, createdAtMs: nowMs });
      await accounts.consents.grant(username, grant);
    }
  } finally {
    await close();
  }
}

/** Signs a business up, with a plan that no measurement exhausts, and returns its API key. */
export async function makeCaller(url: string): Promise<string> {
  const business = { username: "business", password: PASSWORD };
  await sendJson(`${url}/v1/signup`, { ...business, email: "business@example.com" });
  const plan = { plan: "enterprise", rate_limit_per_minute: RATE_PER_MINUTE };
  const address = `${url}/v1/admin/accounts/business/plan`;
  await sendJson(address, plan, { token: await signInAdministrator({ url }), method: "PUT" });
  const session = (await sendJson(`${url}/v1/sessions`, business))["data"] as { token: string };
  const { data } = await sendJson(`${url}/v1/me/api-keys`, { name: "bench" }, session);
  return (data as { key: string }).key;
}
