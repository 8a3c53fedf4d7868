// TLS to a server, as sslmode asks for it. D-12.2.
import { expect, test } from "bun:test";
import { SQL } from "bun";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { runCliProcess } from "../../../cli/support/cli-process.ts";
import { makeCertificate, type TestCertificate } from "../../../support/certificates.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../support/stores/postgres-server.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";

const IS_ENCRYPTED = `select ssl from pg_stat_ssl join pg_stat_activity using (pid)
  where application_name = 'repsync'`;

test.skipIf("reason" in findPostgres())(
  "D-12.2 TLS is used where it is offered, and verify-full asks for a certificate that proves the server",
  async () => {
    const certificate = makeCertificate("127.0.0.1");
    const server = await startPostgres({ certificate });
    const admin = new SQL({ url: server.uri("postgres"), tls: false, max: 1 });
    const url = (mode: string) => `${server.uri("postgres")}?sslmode=${mode}`;
    const open = (mode: string) =>
      openPostgresStorage({ url: url(mode), clock: new SystemClock() });
    try {
      for (const [mode, isEncrypted] of [
        ["prefer", true],
        ["require", true],
        ["disable", false],
      ] as const) {
        const storage = await open(mode);
        const found = await admin.unsafe(IS_ENCRYPTED).values();
        expect([mode, new Set([...found].flat())]).toEqual([mode, new Set([isEncrypted])]);
        await storage.close();
        const isGone = async () => (await admin.unsafe(IS_ENCRYPTED).values()).length === 0;
        await pollUntil("end of its connections", isGone);
      }
      await expect(open("verify-full")).rejects.toMatchObject({
        kind: "invalid_request",
        message: expect.stringContaining("does not prove that it is the one of STORAGE_URL"),
        hint: "NODE_EXTRA_CA_CERTS names a file with an authority of your own",
      });
      const env = { STORAGE_URL: url("verify-full") };
      const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificate.certificateFile };
      expect((await runCliProcess(["runs"], { env })).code).toBe(2);
      expect(await runCliProcess(["runs"], { env: trusting })).toMatchObject({
        code: 0,
        stderr: "",
      });
    } finally {
      await admin.close();
      await server.stop();
    }
  },
  60_000,
);

test.skipIf("reason" in findPostgres())(
  "D-12.2 a refused certificate or user says what to do about it, and no password",
  async () => {
    const good = makeCertificate("127.0.0.1");
    const old = makeCertificate("127.0.0.1", true);
    const servers: PostgresServer[] = [];
    try {
      const start = async (certificate: TestCertificate) => {
        const server = await startPostgres({ certificate });
        servers.push(server);
        return server;
      };
      const refusal = async (uri: string, { certificateFile }: TestCertificate) => {
        const url = uri.replace("repsync@", "repsync:secret@");
        const env = { STORAGE_URL: url, NODE_EXTRA_CA_CERTS: certificateFile };
        const { code, stderr } = await runCliProcess(["runs"], { env });
        expect(stderr).not.toContain("secret");
        return [code, stderr];
      };
      const server = await start(good);
      const uri = server.uri("postgres");
      const elsewhere = `${uri.replace("127.0.0.1", "localhost")}?sslmode=verify-full`;
      expect(await refusal(elsewhere, good)).toEqual([
        2,
        "The server's certificate does not prove that it is the one of STORAGE_URL: ERR_TLS_CERT_ALTNAME_INVALID\nName the server in STORAGE_URL as its certificate does\n",
      ]);
      const late = `${(await start(old)).uri("postgres")}?sslmode=verify-full`;
      expect(await refusal(late, old)).toEqual([
        2,
        "The server's certificate does not prove that it is the one of STORAGE_URL: CERT_HAS_EXPIRED\nRenew the server's certificate\n",
      ]);
      const admin = new SQL({ url: uri, tls: false, max: 1 });
      const [[file] = []] = await admin.unsafe("show hba_file").values();
      const lines = "('hostssl all all 127.0.0.1/32 trust'), ('host all all 127.0.0.1/32 reject')";
      await admin.unsafe(`copy (values ${lines}) to '${file}'`);
      await admin.unsafe("select pg_reload_conf()");
      await admin.close();
      const isReloaded = async () =>
        (await refusal(`${uri}?sslmode=disable`, good)).join().startsWith("2,");
      await pollUntil("its new rules", isReloaded);
      expect(await refusal(`${uri}?sslmode=disable`, good)).toEqual([
        2,
        "PostgreSQL does not let the user of STORAGE_URL in, or not in this way\nIts pg_hba.conf decides: it may ask for TLS (sslmode=require) or for none (sslmode=disable). The server's log says more\n",
      ]);
      expect((await refusal(`${uri}?sslmode=require`, good))[0]).toBe(0);
    } finally {
      for (const server of servers) await server.stop();
    }
  },
  60_000,
);
