import type { Server } from "./child-process.ts";

/** The administrator of every service that is measured. */
export const ADMIN = { username: "bench-admin", password: "bench-admin-password" };

/** Sends JSON and returns the reply's JSON. Throws for any status but 2xx. */
export async function sendJson(
  address: string,
  body: object,
  {
    token = "",
    method = "POST",
    others = {},
  }: { token?: string; method?: string; others?: Readonly<Record<string, string>> } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const headers = {
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    ...others,
  };
  const reply = await fetch(address, { method, body: JSON.stringify(body), headers });
  if (!reply.ok) throw new Error(`${address} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as Record<string, unknown>;
}

/** Signs the administrator in and returns the token. */
export async function signInAdministrator({ url }: Pick<Server, "url">): Promise<string> {
  const { data } = await sendJson(`${url}/v1/sessions`, ADMIN);
  return (data as { token: string }).token;
}
