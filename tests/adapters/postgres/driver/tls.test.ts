// TLS to a server, as sslmode asks for it. D-12.2.
import { afterEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { runCliProcess } from "../../../cli/support/cli-process.ts";
import { releaseResources } from "../../../http/support/resources.ts";
import { makeCertificate } from "../../../support/certificates.ts";
import { findPostgres, startPostgres } from "../../../support/stores/postgres-server.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";

afterEach(releaseResources);

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
