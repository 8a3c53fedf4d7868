// HTTPS of the service's own, as clients meet it. D-10.6.
import { expect, test } from "bun:test";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { ADMIN_ENV, jsonBody, PASSWORD } from "../http/reputation/people.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { SYNC_KEY } from "../http/support/sync-app.ts";
import { makeCertificate, type TestCertificate } from "../support/certificates.ts";
import { keepResource } from "../support/resources.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import {
  BUN,
  MAIN,
  runProcess,
  type ServiceProcess,
  serviceEnv,
  startProcess,
  startService,
} from "./support/service-process.ts";

const envOf = ({ certificateFile, keyFile }: TestCertificate) => ({
  TLS_CERT_FILE: certificateFile,
  TLS_KEY_FILE: keyFile,
});

/** The subject of the certificate that a new connection is shown. */
async function subjectOf(service: ServiceProcess): Promise<string> {
  const port = Number(new URL(service.url).port);
  return await new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.end();
    });
    socket.on("error", reject);
  });
}

/** Begins a push; the returned function sends its end and gives the reply. */
async function beginPush(service: ServiceProcess): Promise<() => Promise<string>> {
  const port = Number(new URL(service.url).port);
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const body = '{"records":[{"name":"a"}]}';
  const headers = ["Host: a", `X-Sync-Key: ${SYNC_KEY}`, `Content-Length: ${body.length}`];
  const head = ["POST /api/v1/sync/push/notes HTTP/1.1", ...headers].join("\r\n");
  socket.write(`${head}\r\n\r\n${body.slice(0, 12)}`);
  return async () => {
    socket.write(body.slice(12));
    const [reply] = await once(socket, "data");
    socket.end();
    return String(reply);
  };
}

/** False also for one that has ended and that nobody has asked after. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Puts the files of one certificate in the place of another's. */
function replace(from: TestCertificate, to: TestCertificate): void {
  copyFileSync(to.certificateFile, from.certificateFile);
  copyFileSync(to.keyFile, from.keyFile);
}

test("D-10.6, D-8.6 both files serve HTTPS, with cookies for TLS alone, and no HTTP", async () => {
  const certificate = makeCertificate("own");
  const service = await startService({ env: { ...ADMIN_ENV, ...envOf(certificate) } });
  expect(service.stdout()).toMatch(/^repsync is listening on https:\/\/127\.0\.0\.1:\d+\n/);
  expect(service.stdout()).toContain(`  docs      ${service.url}/swagger\n`);
  const tls = { ca: certificate.certificate };
  const ask = (path: string, init = {}) => fetch(service.url + path, { ...init, tls });
  const session = await ask("/v1/sessions", jsonBody({ username: "root", password: PASSWORD }));
  const cookie = session.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^__Host-repsync_session=.*; Secure$/);
  const [pair = ""] = cookie.split(";");
  expect((await ask("/v1/me", { headers: { Cookie: pair } })).status).toBe(200);
  const plain = pair.replace("__Host-", "");
  expect((await ask("/v1/me", { headers: { Cookie: plain } })).status).toBe(401);
  expect((await ask("/console")).status).toBe(200);
  expect(await fetch(service.url.replace("https:", "http:")).catch(() => null)).toBeNull();
  expect(await fetch(service.url).catch(() => null)).toBeNull();
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

test("D-10.6 a deployment runs against a remote with HTTPS whose certificate it trusts", async () => {
  const certificate = makeCertificate("remote");
  const remote = await startService({ env: envOf(certificate) });
  const remotePage = `${remote.url}/api/v1/sync/pull/notes`;
  const tls = { ca: certificate.certificate };
  const local = await startService({
    env: {
      ...ADMIN_ENV,
      SYNC_REMOTE_URL: remote.url,
      SYNC_REMOTE_KEY: SYNC_KEY,
      NODE_EXTRA_CA_CERTS: certificate.certificateFile,
    },
  });
  await local.push("notes", { records: [{ name: "a" }] });
  const session = await local.send(
    "/v1/sessions",
    jsonBody({ username: "root", password: PASSWORD }),
  );
  const { token } = session.json["data"] as { token: string };
  const run = jsonBody({ direction: "push", table: "notes" });
  const headers = { ...run.headers, Authorization: `Bearer ${token}` };
  const reply = await local.send("/api/v1/sync/trigger", { ...run, headers });
  expect(reply.json).toMatchObject({ status: "success" });
  expect(
    await (await fetch(remotePage, { headers: { "X-Sync-Key": SYNC_KEY }, tls })).json(),
  ).toMatchObject({ total: 1 });
});

test("D-10.6, D-11.5 at SIGHUP new files serve new connections, broken ones leave the old, and no setting is read", async () => {
  const files = makeCertificate("first");
  const [second, third] = [makeCertificate("second"), makeCertificate("third")];
  const folder = makeTempFolder();
  const settings = join(folder, ".env");
  writeFileSync(settings, "METRICS_TOKEN=a token\n");
  const env = { ...envOf(files), LOG_LEVEL: "info" };
  // As the program `repsync` starts it: Bun would read the file first.
  const command = [...BUN, "--no-env-file", MAIN] as const;
  const service = await startService({ folder, env, command });
  expect(await subjectOf(service)).toBe("first");

  const endPush = await beginPush(service);

  replace(files, second);
  writeFileSync(settings, "METRICS_TOKEN=another token\nno setting\n");
  service.kill("SIGHUP");
  await service.waitFor("new files", ({ stderr }) => stderr().includes("read anew") || null);
  expect(await subjectOf(service)).toBe("second");
  expect(await endPush()).toStartWith("HTTP/1.1 200 ");
  const headers = { Authorization: "Bearer a token" };
  const metrics = await fetch(`${service.url}/metrics`, {
    headers,
    tls: { ca: second.certificate },
  });
  expect(metrics.status).toBe(200);

  writeFileSync(files.keyFile, third.key);
  service.kill("SIGHUP");
  await service.waitFor("problem", ({ stderr }) => stderr().includes("TLS_KEY_FILE: ") || null);
  expect(await subjectOf(service)).toBe("second");
  const errors = service.stderr().match(/"level":50.*/g) ?? [];
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain("The certificate stays as it was: TLS_KEY_FILE: ");
  expect(service.stderr()).not.toContain("PRIVATE KEY");

  replace(files, third);
  service.kill("SIGHUP");
  await service.waitFor("all", ({ stderr }) => stderr().split("read anew").length > 2 || null);
  expect(await subjectOf(service)).toBe("third");
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

test("D-11.5 a SIGHUP that comes while the certificate is renewed renews it once more", async () => {
  const files = makeCertificate("first");
  const [second, third] = [makeCertificate("second"), makeCertificate("third")];
  const service = await startService({ env: envOf(files) });
  for (let times = 1; times <= 20; times++) {
    replace(files, second);
    service.kill("SIGHUP");
    replace(files, third);
    service.kill("SIGHUP");
    const subject = () => subjectOf(service).catch(() => null);
    await pollUntil("the last certificate", async () => (await subject()) === "third");
  }
});

test("D-11.5 callers who keep their connections open meet no broken one while the certificate is renewed", async () => {
  const files = makeCertificate("first");
  const service = await startService({ env: { ...envOf(files), LOG_LEVEL: "info" } });
  const agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  const outcomes = new Map<string, number>();
  let [isOver, reused] = [false, 0];
  const askOnce = () =>
    new Promise<void>((resolve) => {
      const note = (outcome: string) => {
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        resolve();
      };
      const request = get(`${service.url}/v1/health/live`, { agent }, (reply) => {
        if (request.reusedSocket) reused++;
        reply.resume().on("error", ({ message }) => note(message));
        reply.on("end", () => note(String(reply.statusCode)));
      });
      request.on("error", ({ message }) => note(message));
    });
  const call = async () => {
    while (!isOver) await askOnce();
  };
  const calling = Array.from({ length: 4 }, call);
  await pollUntil("replies on connections that are kept", async () => reused > 100);
  for (const name of ["second", "third"]) {
    replace(files, makeCertificate(name));
    service.kill("SIGHUP");
    // One that the service has not accepted when the port closes is told so.
    const subject = () => subjectOf(service).catch(() => null);
    await pollUntil("the certificate", async () => (await subject()) === name);
  }
  isOver = true;
  await Promise.all(calling);
  agent.destroy();
  expect([...outcomes.keys()]).toEqual(["200"]);
});

test.each([
  // Without `--no-orphans`: it is to notice the terminal.
  `${process.execPath} ${MAIN}`,
  `node ${join(MAIN, "../../cli/bin.mjs")} serve`,
])(
  "D-11.5 without TLS a SIGHUP changes nothing, and a terminal that closes stops the service: %s",
  async (command) => {
    const folder = makeTempFolder();
    const terminal = startProcess(
      ["script", "-qc", `echo $$ >pid; exec ${command} 2>err`, "/dev/null"],
      { folder, env: serviceEnv(folder) },
    );
    const url = await terminal.waitFor(
      "address",
      ({ stdout }) => /listening on (http:\S+)/.exec(stdout())?.[1],
    );
    const status = () =>
      fetch(`${url}/v1/health/live`).then(
        (reply) => reply.status,
        () => null,
      );
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    process.kill(pid, "SIGHUP");
    for (let i = 0; i < 20; i++) expect(await status()).toBe(200);
    terminal.kill("SIGKILL");
    await pollUntil("the end", async () => (await status()) === null);
    await pollUntil("that of its starter", async () => !isRunning(pid));
    expect(readFileSync(join(folder, "err"), "utf8")).toBe("");
  },
);

test("D-11.5 a service that was started with nohup goes on without its terminal", async () => {
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder), ...envOf(makeCertificate("own")), LOG_LEVEL: "info" };
  const command = `echo $$ >pid; exec nohup ${process.execPath} ${MAIN} >out 2>&1`;
  const terminal = startProcess(["script", "-qc", command, "/dev/null"], { folder, env });
  const shows = (text: string) => async () => {
    const output = readFileSync(join(folder, "out"), { encoding: "utf8", flag: "a+" });
    return output.includes(text);
  };
  await pollUntil("the start", shows("repsync is listening on"));
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  keepResource(() => void process.kill(pid, "SIGKILL"));
  terminal.kill("SIGKILL");
  await pollUntil("the signal", shows("were read anew"));
});

test("D-10.6 problems of the files are exit code 2, and an expired certificate is told and served", async () => {
  const expired = makeCertificate("expired", true);
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder), ...envOf(expired), LOG_LEVEL: "warn" };
  const missing = { ...env, TLS_KEY_FILE: "nowhere.key" };
  const ended = await runProcess([...BUN, MAIN], { folder, env: missing });
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toBe(
    'repsync cannot start; the configuration has these problems:\n- TLS_KEY_FILE: the file "nowhere.key" cannot be read: there is no such file or folder\n.env.example describes the settings\n',
  );
  const service = await startService({ folder, env });
  expect(await subjectOf(service)).toBe("expired");
  expect(service.stderr()).toContain("The certificate of TLS_CERT_FILE has expired");
});

test("D-10.6 a byte order mark before a certificate, a key or a secret is no part of it", async () => {
  const marked = makeCertificate("marked");
  const token = join(makeTempFolder(), "token");
  writeFileSync(token, "of the metrics\n");
  const files = { ...envOf(marked), METRICS_TOKEN_FILE: token };
  for (const path of Object.values(files)) {
    writeFileSync(path, `\ufeff${readFileSync(path, "utf8")}`);
  }
  const service = await startService({ env: files });
  expect(await subjectOf(service)).toBe("marked");
  const reply = await fetch(`${service.url}/metrics`, {
    headers: { Authorization: "Bearer of the metrics" },
    tls: { rejectUnauthorized: false },
  });
  expect(reply.status).toBe(200);
});
