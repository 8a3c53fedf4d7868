// The receivers of docs/deploy/alerts, run as they stand.
import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { ROOT } from "../../.ci/setup.mjs";
import { keepResource } from "../support/resources.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import { Person } from "./reputation/people.ts";
import { type SyncApp, startApp } from "./support/sync-app.ts";

const RECEIVERS: readonly Receiver[] = [
  ["node", "receiver.mjs"],
  ["python3", "receiver.py"],
];
type Receiver = readonly [program: string, file: string];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a receiver; gives what it prints, line by line. */
async function* linesOf([program, file]: Receiver, port: number, secret: string) {
  const path = join(ROOT, "docs/deploy/alerts", file);
  const env = { PATH: process.env["PATH"] ?? "", PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(program, [path], { env, stdio: ["ignore", "pipe", "ignore"] });
  keepResource(() => void child.kill("SIGKILL"));
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}

describe.each(RECEIVERS)("%s %s", (program, file) => {
  const isMissing = Bun.which(program) === null && Bun.env.CI !== "true";

  test.skipIf(isMissing)("D-10.12 takes what is signed with its secret only", async () => {
    const [port, otherPort] = [await freePort(), await freePort()];
    const lines = linesOf([program, file], port, "a secret");
    const others = linesOf([program, file], otherPort, "another secret");
    // Both begin: what they print is read later.
    const [first, other] = [lines.next(), others.next()];
    let isTaken = false;
    void other.then(() => {
      isTaken = true;
    });
    const env = { SYNC_TABLES: "", WEBHOOK_SECRET: "a secret", WEBHOOK_ALLOW_PRIVATE: "true" };
    const apps: SyncApp[] = [];
    for (const at of [otherPort, port]) {
      const app = await startApp({ env: { ...env, WEBHOOK_URL: `http://127.0.0.1:${at}/` } });
      const person = await Person.signUp(app, "ana");
      await person.issueKey();
      const { json } = await person.send("/v1/me/api-keys");
      const [key] = (json["data"] as { items: readonly { id: string }[] }).items;
      await person.send(`/v1/me/api-keys/${key?.id}`, { method: "DELETE" });
      apps.push(app);
    }
    expect((await first).value).toMatch(/^key\.revoked [\w-]{36}$/);
    await pollUntil("failure", async () => {
      const { text } = await apps[0]!.send("/metrics");
      return text.includes('type="key.revoked",outcome="failed"');
    });
    expect(isTaken).toBe(false);
  });
});
