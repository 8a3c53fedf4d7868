// TLS that does not come about is told by its reason, with what to do. D-10.4.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Socket, SocketHandler } from "bun";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { makeTempFolder } from "../../../http/support/make-temp-folder.ts";
import { makeCertificate, type TestCertificate } from "../../../support/certificates.ts";
import { keepResource } from "../../../support/resources.ts";
import { HurriedClock } from "../../../support/time/fake-clock.ts";

const SOCKET: SocketHandler = { data: () => {}, error: () => {} };

/** Starts what is a server of MongoDB with this certificate, or without TLS, until its first word; gives its port. */
function listen(shown: TestCertificate | null, handler: SocketHandler = {}): number {
  const tls = shown === null ? {} : { tls: { cert: shown.certificate, key: shown.key } };
  const socket = { ...SOCKET, ...handler };
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, ...tls, socket });
  keepResource(() => server.stop(true));
  return server.port;
}

/** What opening says of it. */
async function refusalAt(port: number, options: string, host = "127.0.0.1"): Promise<unknown> {
  const url = `mongodb://u:secret@${host}:${port}/d?serverSelectionTimeoutMS=500&${options}`;
  const opening = openMongoStorage({ url, clock: new HurriedClock(3_000) });
  const { kind, message, hint } = await opening.catch((error) => error);
  expect(`${message} ${hint}`).not.toContain("secret");
  return [kind, message, hint];
}

const UNPROVEN = "The server's certificate does not prove that it is the one of STORAGE_URL:";

describe("TLS to MongoDB", () => {
  test("D-10.4 a certificate that is not taken is told at once, with what to do", async () => {
    const good = makeCertificate("127.0.0.1");
    const port = listen(good);
    expect(await refusalAt(port, "tls=true")).toEqual([
      "invalid_request",
      `${UNPROVEN} DEPTH_ZERO_SELF_SIGNED_CERT`,
      "tlsCAFile in STORAGE_URL, or NODE_EXTRA_CA_CERTS, names a file with an authority of your own",
    ]);
    const own = `tls=true&tlsCAFile=${good.certificateFile}`;
    expect(await refusalAt(port, own, "localhost")).toEqual([
      "invalid_request",
      `${UNPROVEN} ERR_TLS_CERT_ALTNAME_INVALID`,
      "Name the server in STORAGE_URL as its certificate does",
    ]);
    const old = makeCertificate("127.0.0.1", true);
    expect(await refusalAt(listen(old), `tls=true&tlsCAFile=${old.certificateFile}`)).toEqual([
      "invalid_request",
      `${UNPROVEN} CERT_HAS_EXPIRED`,
      "Renew the server's certificate",
    ]);
  });

  test.each(["tlsCAFile", "tlsCertificateKeyFile"])(
    "D-10.4 a file that %s names and that cannot be used is told at once",
    async (option) => {
      const port = listen(makeCertificate("127.0.0.1"));
      const text = "A file that STORAGE_URL names for TLS cannot be used:";
      const hint = "Look at tlsCAFile and tlsCertificateKeyFile in STORAGE_URL";
      const absent = join(makeTempFolder(), "absent");
      expect(await refusalAt(port, `tls=true&${option}=${absent}`)).toEqual([
        "invalid_request",
        `${text} ENOENT`,
        hint,
      ]);
      const spoiled = join(makeTempFolder(), "spoiled");
      writeFileSync(spoiled, "no certificate\n");
      expect(await refusalAt(port, `tls=true&${option}=${spoiled}`)).toEqual([
        "invalid_request",
        expect.stringContaining(`${text} ERR_`),
        hint,
      ]);
    },
  );

  test("D-10.4 a server that closes connections is told with what it may ask for", async () => {
    const close = { data: (socket: Socket) => void socket.end() };
    const plain = listen(null, close);
    expect(await refusalAt(plain, "")).toEqual([
      "store_unavailable",
      `MongoDB at 127.0.0.1:${plain} cannot be reached`,
      "It closes the connection: if it asks for TLS, STORAGE_URL needs tls=true",
    ]);
    const own = makeCertificate("127.0.0.1");
    for (const port of [plain, listen(own, close)]) {
      expect(await refusalAt(port, `tls=true&tlsCAFile=${own.certificateFile}`)).toEqual([
        "store_unavailable",
        `MongoDB at 127.0.0.1:${port} cannot be reached`,
        "It closes the connection: it may offer no TLS, or ask for a certificate of the client (tlsCertificateKeyFile in STORAGE_URL)",
      ]);
    }
  });
});
