// The authentication of S-5, the same for every endpoint that takes the sync key.
import { describe, expect, test } from "bun:test";
import { RawConnection } from "./raw-http.ts";
import { makeClient, type Reply, SYNC_KEY, startApp } from "./sync-app.ts";

/** An endpoint with the sync key. */
export interface KeyedEndpoint {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The same for a table that does not exist. */
  readonly unknownPath: string;
}

const KEY_REJECTED = '{"error":"The X-Sync-Key header is missing or wrong"}';

/** Declares the tests of one endpoint. */
export function authenticationContract(endpoint: KeyedEndpoint): void {
  const { name, method, path } = endpoint;
  const call = (url: string, headers: Record<string, string> = {}): Promise<Reply> =>
    makeClient(url).send(path, { method, headers });

  describe(`authentication of ${name}()`, () => {
    test.each([undefined, "", "false", "0", "no", "off"])(
      `S-5.1 ${name}() answers 403 first of all with SYNC_ENABLED=%p`,
      async (value) => {
        const { url } = await startApp({ env: { SYNC_ENABLED: value, SYNC_API_KEY: "" } });
        for (const headers of [{}, { "X-Sync-Key": "wrong" }, { "X-Sync-Key": SYNC_KEY }]) {
          const reply = await call(url, headers);
          expect(reply.status).toBe(403);
          expect(reply.text).toBe(
            '{"error":"Sync is disabled here; set SYNC_ENABLED=true to enable it"}',
          );
        }
      },
    );

    test.each([undefined, ""])(`S-5.2 ${name}() answers 500 with SYNC_API_KEY=%p`, async (key) => {
      const { url } = await startApp({ env: { SYNC_API_KEY: key } });
      for (const headers of [{}, { "X-Sync-Key": "" }, { "X-Sync-Key": "anything" }]) {
        const reply = await call(url, headers);
        expect(reply.status).toBe(500);
        expect(reply.text).toBe('{"error":"No sync key is configured here; set SYNC_API_KEY"}');
      }
    });

    test(`S-5.3 ${name}() answers 401 when the key is missing or different`, async () => {
      const { url } = await startApp();
      const wrong = [
        ...["", " ", "wrong", SYNC_KEY.slice(0, -1), `${SYNC_KEY}x`, SYNC_KEY.toUpperCase()],
        ...[`${SYNC_KEY}, ${SYNC_KEY}`, `"${SYNC_KEY}"`, `Bearer ${SYNC_KEY}`, "x".repeat(8000)],
      ];
      const headers = [
        {},
        { Authorization: `Bearer ${SYNC_KEY}` },
        { "X-API-Key": SYNC_KEY },
        { Cookie: `X-Sync-Key=${SYNC_KEY}` },
        ...wrong.map((key) => ({ "X-Sync-Key": key })),
      ];
      for (const given of headers) {
        const reply = await call(url, given as Record<string, string>);
        expect([reply.status, reply.text]).toEqual([401, KEY_REJECTED]);
      }
      const query = await makeClient(url).send(`${path}?X-Sync-Key=${SYNC_KEY}`, { method });
      expect(query.status).toBe(401);
    });

    test(`S-5.3 ${name}() takes the key in a header of any case and with blanks around it`, async () => {
      const { url } = await startApp();
      for (const header of ["X-Sync-Key", "x-sync-key", "X-SYNC-KEY"]) {
        expect((await call(url, { [header]: SYNC_KEY })).status).toBe(200);
        expect((await call(url, { [header]: `  ${SYNC_KEY}\t` })).status).toBe(200);
      }
    });

    test(`S-5.3 ${name}() takes a key outside of ASCII by its UTF-8 bytes`, async () => {
      const app = await startApp({ env: { SYNC_API_KEY: "schlüssel-🔑" } });
      const head = (key: string) =>
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nX-Sync-Key: ${key}\r\n\r\n`;
      const asUtf8 = await app.raw(new TextEncoder().encode(head("schlüssel-🔑")));
      expect(asUtf8.status).toBe(200);
      const other = await app.raw(new TextEncoder().encode(head("schlüssel-🔒")));
      expect(other.status).toBe(401);
    });

    test(`S-5.3 ${name}() answers 401 when the key is sent twice`, async () => {
      const app = await startApp();
      for (const second of [SYNC_KEY, "wrong"]) {
        const keys = `X-Sync-Key: ${SYNC_KEY}\r\nX-Sync-Key: ${second}\r\n`;
        const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n`;
        expect((await app.raw(`${head}${keys}\r\n`)).status).toBe(401);
      }
    });

    test(`D-3.5.4 ${name}() answers 401, not 400, for an unknown table with a wrong key`, async () => {
      const { url } = await startApp();
      for (const unknownPath of [endpoint.unknownPath, path.replace("notes", "%zz")]) {
        const reply = await makeClient(url).send(unknownPath, { method });
        expect([reply.status, reply.text]).toEqual([401, KEY_REJECTED]);
      }
    });

    test.each([
      [401, {}, "wrong"],
      [403, { SYNC_ENABLED: "false" }, SYNC_KEY],
      [500, { SYNC_API_KEY: "" }, SYNC_KEY],
    ] as const)(
      `D-3.5.8, D-3.11 ${name}() answers %i before the body has been sent`,
      async (status, env, key) => {
        const { url } = await startApp({ env });
        for (const length of ["Content-Length: 1000000", "Transfer-Encoding: chunked"]) {
          const connection = await RawConnection.open(url);
          await connection.write(
            `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nX-Sync-Key: ${key}\r\n${length}\r\n\r\n`,
          );
          expect((await connection.readReply()).status).toBe(status);
          connection.close();
        }
      },
    );

    test(`D-11.8.5 ${name}() ends the connection on which a refused body is still to come`, async () => {
      const { url } = await startApp();
      const connection = await RawConnection.open(url);
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n`;
      await connection.write(`${head}Content-Length: 300000\r\n\r\n`);
      const reply = await connection.readReply();
      expect([reply.status, reply.headers.get("connection")]).toEqual([401, "close"]);
      await connection.readToEnd();
    });
  });
}
