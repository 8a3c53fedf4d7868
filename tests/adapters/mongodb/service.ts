// The service as a process on a database of MongoDB.
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../../src/app/main.ts");
const ADMIN = { username: "root", password: "correct horse" };
const CALLERS = 16;

/** Starts the service, loads it, and kills it after so many replies. Gives the ids of the requests it answered. */
export async function loadUntilKilled(storageUrl: string, replies: number): Promise<string[]> {
  const child = Bun.spawn([process.execPath, MAIN], {
    env: {
      PATH: process.env.PATH ?? "",
      STORAGE_URL: storageUrl,
      PORT: "0",
      LOG_LEVEL: "silent",
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
    },
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    const line = new TextDecoder().decode((await child.stdout.getReader().read()).value);
    const url = / is listening on (\S+)/.exec(line)?.[1] ?? "";
    const key = await issueKey(url);
    const received: string[] = [];
    const caller = async () => {
      for (;;) {
        const id = crypto.randomUUID();
        const headers = { "X-API-Key": key, "X-Request-Id": id };
        const reply = await fetch(`${url}/v1/public/profiles/x`, { headers });
        if (reply.status !== 404) throw new Error(`Not as expected: ${await reply.text()}`);
        await reply.text();
        received.push(id);
        if (received.length >= replies) child.kill("SIGKILL");
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: CALLERS }, caller));
    for (const end of ends) {
      if (end.status === "rejected" && /^Not as expected/.test(end.reason?.message))
        throw end.reason;
    }
    return received;
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}

async function issueKey(url: string): Promise<string> {
  const send = async (path: string, init: { body: object; method?: string; headers?: object }) => {
    const { body, method = "POST", headers = {} } = init;
    const request = {
      method,
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...headers },
    };
    const reply = await fetch(`${url}${path}`, request);
    return ((await reply.json()) as { data: Record<string, string> }).data;
  };
  const { token } = await send("/v1/sessions", { body: ADMIN });
  const headers = { Authorization: `Bearer ${token}` };
  const plan = { plan: "enterprise", rate_limit_per_minute: 1_000_000 };
  await send("/v1/admin/accounts/root/plan", { method: "PUT", body: plan, headers });
  return (await send("/v1/me/api-keys", { body: { name: "k" }, headers }))["key"] ?? "";
}
