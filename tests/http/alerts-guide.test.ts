// The receivers of docs/operating.md, run as they stand.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { pollUntil } from "../support/time/poll-until.ts";
import { Person } from "./reputation/people.ts";
import { makeTempFolder } from "./support/make-temp-folder.ts";
import { keepResource, releaseResources } from "./support/resources.ts";
import { type SyncApp, startApp } from "./support/sync-app.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const GUIDE = readFileSync(join(import.meta.dir, "../../docs/operating.md"), "utf8");
const PROGRAMS = { js: "node", python: "python3" } as const;
const receivers = [...GUIDE.matchAll(/^```(js|python)\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, language, file = "", text = ""]) => ({
    program: PROGRAMS[language as keyof typeof PROGRAMS],
    file,
    text,
  }),
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a receiver; gives what it prints, line by line. */
async function* linesOf(receiver: (typeof receivers)[number], port: number, secret: string) {
  const file = join(makeTempFolder(), receiver.file);
  writeFileSync(file, receiver.text);
  const env = { PATH: process.env["PATH"] ?? "", PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(receiver.program, [file], { env, stdio: ["ignore", "pipe", "ignore"] });
  keepResource(() => void child.kill("SIGKILL"));
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}

test("docs/operating.md has a receiver in JavaScript and one in Python", () => {
  expect(receivers.map(({ file }) => file)).toEqual(["receiver.mjs", "receiver.py"]);
});

describe.each(receivers)("$file", (receiver) => {
  const isMissing = Bun.which(receiver.program) === null && Bun.env.CI !== "true";

  test.skipIf(isMissing)("D-10.12 takes what is signed with its secret only", async () => {
    const [port, otherPort] = [await freePort(), await freePort()];
    const lines = linesOf(receiver, port, "a secret");
    const others = linesOf(receiver, otherPort, "another secret");
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
