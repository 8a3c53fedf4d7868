// HTTPS of the service's own, as clients meet it. D-10.6.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { ADMIN_ENV, jsonBody, PASSWORD } from "../http/reputation/people.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { releaseResources } from "../http/support/resources.ts";
import { SYNC_KEY } from "../http/support/sync-app.ts";
import { makeCertificate, type TestCertificate } from "../support/certificates.ts";
import {
  BUN,
  MAIN,
  runProcess,
  type ServiceProcess,
  serviceEnv,
  startService,
} from "./support/service-process.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

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

test.each(["1", "2"])(
  "D-10.6, D-10.11 SIGHUP with WORKERS=%s: new files serve new connections, broken ones leave the old, and nobody is cut off",
  async (WORKERS) => {
    const files = makeCertificate("first");
    const [second, third] = [makeCertificate("second"), makeCertificate("third")];
    const env = { ...envOf(files), LOG_LEVEL: "info", WORKERS };
    const service = await startService({ env });
    expect(await subjectOf(service)).toBe("first");

    // A push whose body is under way meanwhile.
    let send = (_: string) => {};
    const body = new ReadableStream<string>({
      start(controller) {
        controller.enqueue('{"records":[');
        send = (text) => {
          controller.enqueue(text);
          controller.close();
        };
      },
    });
    const pushing = fetch(`${service.url}/api/v1/sync/push/notes`, {
      method: "POST",
      headers: { "X-Sync-Key": SYNC_KEY },
      body,
      tls: { ca: files.certificate },
    });

    replace(files, second);
    service.kill("SIGHUP");
    await service.waitFor("new files", ({ stderr }) => stderr().includes("read anew") || null);
    expect(await subjectOf(service)).toBe("second");
    send('{"name":"a"}]}');
    expect((await pushing).status).toBe(200);

    writeFileSync(files.keyFile, third.key);
    service.kill("SIGHUP");
    await service.waitFor("problem", ({ stderr }) => stderr().includes("TLS_KEY_FILE: ") || null);
    expect(await subjectOf(service)).toBe("second");
    expect(service.stderr().split("TLS_KEY_FILE: ").length - 1).toBe(1);
    expect(service.stderr()).not.toContain("PRIVATE KEY");

    replace(files, third);
    service.kill("SIGHUP");
    await service.waitFor("all", ({ stderr }) => stderr().split("read anew").length > 2 || null);
    expect(await subjectOf(service)).toBe("third");
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  },
);

test("D-10.6 problems of the files are exit code 2, and an expired certificate is told and served", async () => {
  const expired = makeCertificate("expired", true);
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder), ...envOf(expired), LOG_LEVEL: "warn" };
  const missing = { ...env, TLS_KEY_FILE: "nowhere.key" };
  const ended = await runProcess([...BUN, MAIN], { folder, env: missing });
  expect(ended).toMatchObject({ code: 2, stdout: "" });
  expect(ended.stderr).toBe(
    'repsync cannot start; the configuration has these problems:\n- TLS_KEY_FILE: the file "nowhere.key" cannot be read\n',
  );
  const service = await startService({ folder, env });
  expect(await subjectOf(service)).toBe("expired");
  expect(service.stderr()).toContain("The certificate of TLS_CERT_FILE has expired");
});
