// Ten thousand people to look up, and businesses that look them up, made through the service's own routes where that
// does not take too long, so that any version of it can be measured.
import { sendJson, signInAdministrator } from "./administrator.ts";
import { makePushBody } from "./bench-rows.ts";
import { pushRows } from "./client.ts";
import { sized } from "./quick.ts";

/** People with a profile, three verified platforms and a consent. */
export const PEOPLE = sized(10_000, 500);

const PLATFORMS = ["github", "linkedin", "tokopedia"];
const UPDATED_AT = "2026-01-01T00:00:00Z";
/** Of everybody but the administrator. */
export const PASSWORD = "bench-password";
const BATCH_ROWS = 5_000;
const RATE_PER_MINUTE = 999_999_999;
/** Lookups under way while everybody is looked up. */
const CONCURRENCY = 64;

/** Username of a person, from 0 to `PEOPLE - 1`. */
export function personName(place: number): string {
  return `person-${place}`;
}

/** Path of the lookup of a person's reputation. */
export function lookupPath(username: string): string {
  return `/v1/public/profiles/${username}/reputation`;
}

/** A service, and the way around it into its store. */
export interface PeopleStore {
  readonly url: string;
  readonly copyConsent: (usernames: readonly string[]) => Promise<void> | void;
}

/** Makes the people in an empty service. */
export async function makePeople({ url, copyConsent }: PeopleStore): Promise<void> {
  const names = Array.from({ length: PEOPLE }, (_, place) => personName(place));
  const [first = "", ...others] = names;
  const session = await signUp(url, first);
  await sendJson(`${url}/v1/me/consents`, { purpose: "reputation_lookup" }, session);
  await copyConsent(others);
  await pushAll(
    url,
    "profiles",
    names.map((username) => ({ username, display_name: username, updated_at: UPDATED_AT })),
  );
  await pushAll(
    url,
    "platform_accounts",
    names.flatMap((username) =>
      PLATFORMS.map((platform) => ({
        username,
        platform,
        handle: username,
        verified: true,
        activity_count: 40,
        updated_at: UPDATED_AT,
      })),
    ),
  );
}

/** Signs a business up, with a plan that no measurement exhausts, and returns its API key. */
export async function makeCaller(url: string, username = "business"): Promise<string> {
  const session = await signUp(url, username);
  const plan = { plan: "enterprise", rate_limit_per_minute: RATE_PER_MINUTE };
  const address = `${url}/v1/admin/accounts/${username}/plan`;
  await sendJson(address, plan, { token: await signInAdministrator({ url }), method: "PUT" });
  const { data } = await sendJson(`${url}/v1/me/api-keys`, { name: "bench" }, session);
  return (data as { key: string }).key;
}

/** Looks everybody up once, and returns the bytes of one reply. */
export async function lookUpEverybody(url: string, key: string): Promise<string> {
  let body = "";
  const places = Array.from({ length: PEOPLE }, (_, place) => place).values();
  const worker = async () => {
    for (const place of places) {
      const headers = { "X-API-Key": key };
      const reply = await fetch(`${url}${lookupPath(personName(place))}`, { headers });
      if (reply.status !== 200) throw new Error(`A lookup answered ${reply.status}`);
      body = await reply.text();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return body;
}

/** Makes an account and signs in to it; `others` are headers. */
export async function signUp(
  url: string,
  username: string,
  others: Readonly<Record<string, string>> = {},
): Promise<{ readonly token: string }> {
  const person = { username, password: PASSWORD };
  const email = `${username}@example.com`;
  await sendJson(`${url}/v1/signup`, { ...person, email }, { others });
  return (await sendJson(`${url}/v1/sessions`, person))["data"] as { token: string };
}

async function pushAll(url: string, table: string, rows: readonly object[]): Promise<void> {
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    await pushRows(url, makePushBody(rows.slice(from, from + BATCH_ROWS)), { table });
  }
}
