// Random requests: whatever comes in, no reply is an error of ours, and none shows the inside.
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkAsyncProperty } from "../support/seed.ts";
import { gzip, joinBytes, sha256, utf8 } from "./support/bytes.ts";
import { rawExchange } from "./support/raw-http.ts";
import { SYNC_KEY, type SyncApp, startApp } from "./support/sync-app.ts";
import { TABLE_NAMES, TABLES } from "./support/tables.ts";

let app: SyncApp;

beforeAll(async () => {
  app = await startApp({
    env: { SYNC_MAX_BODY_BYTES: "20000", SYNC_MAX_DECOMPRESSED_BYTES: "50000" },
  });
});

/** Stack lines, file names and the key: what no reply may hold. */
const INSIDE = /node_modules|\/src\/|\.ts:\d|\n\s+at |SQLITE|bun:|correct horse/;

function expectHarmless(reply: { readonly status: number; readonly text: string }): void {
  expect(reply.status).toBeLessThan(500);
  expect(reply.text).not.toMatch(INSIDE);
}

const tableName = fc.oneof(
  fc.constantFrom(...TABLE_NAMES),
  fc.string({ unit: "binary" }).map((text) => encodeURIComponent(text.toWellFormed()) || "x"),
  fc.stringMatching(/^[!-"$-.0->@-~]{1,20}$/),
);
const since = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.stringMatching(/^\d{4}-\d\d-\d\d([T +]\d\d:\d\d(:\d\d(\.\d{0,10})?)?(Z|[+ -]\d\d:?\d\d)?)?$/),
  fc.string({ unit: "binary" }),
);
const integer = fc.oneof(
  fc.bigInt().map(String),
  fc.stringMatching(/^[+-]?\d{0,30}$/),
  fc.string(),
);
const query = fc.oneof(
  fc.webQueryParameters(),
  fc.stringMatching(/^[!-"$-~]{0,40}$/),
  fc.record({ since, offset: integer, limit: integer }, { requiredKeys: [] }).map((fields) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
      .join("&"),
  ),
);
const headerValue = fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,60}$/);
const headers = fc
  .dictionary(
    fc.constantFrom(
      ...[
        "X-Request-Id",
        "X-Content-SHA256",
        "Content-Type",
        "Accept",
        "Accept-Encoding",
        "Cookie",
      ],
      ...["Authorization", "X-Forwarded-For", "X-HTTP-Method-Override", "Range", "If-None-Match"],
    ),
    headerValue,
  )
  .map((given) => ({ ...given, "X-Sync-Key": SYNC_KEY }));

const columnNames = Object.values(TABLES).flatMap(({ columns }) => Object.keys(columns));
const value = fc.oneof(
  fc.jsonValue({ depthSize: "small", stringUnit: "binary" }),
  since,
  fc.stringMatching(/^[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,5})?$/),
  fc.constantFrom("\ud800", "\u0000", "true", "YES", "", [], {}, -0, 2 ** 63, 1e308, 5e-324),
);
const record = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(fc.constantFrom(...columnNames), value) },
  { weight: 1, arbitrary: value },
);
const pushBody = fc
  .record({ records: fc.oneof(fc.array(record, { maxLength: 5 }), value), sync_timestamp: value })
  .map((body) => utf8(JSON.stringify(body)));

/** Bytes that are a push body, or were one before something happened to them. */
const body = fc
  .tuple(fc.oneof(pushBody, fc.uint8Array({ maxLength: 300 })), fc.uint8Array({ maxLength: 3 }))
  .chain(([bytes, tail]) => {
    const plain = joinBytes(bytes);
    const cut = (whole: Uint8Array) =>
      fc.nat(whole.length).map((end) => joinBytes(whole.slice(0, end)));
    return fc.oneof(
      fc.constant({ bytes: plain, plain }),
      fc.constant({ bytes: gzip(plain), plain }),
      fc.constant({ bytes: joinBytes(gzip(plain), tail), plain }),
      cut(plain).map((part) => ({ bytes: part, plain })),
      cut(gzip(plain)).map((part) => ({ bytes: part, plain })),
    );
  });

describe("random requests", () => {
  test("S-4.1, S-7 pull() answers any query and header without an error of ours", async () => {
    const property = fc.asyncProperty(tableName, query, headers, async (name, text, given) => {
      const safe = encodeURI(text.toWellFormed()).replaceAll("#", "");
      expectHarmless(await app.send(`/api/v1/sync/pull/${name}?${safe}`, { headers: given }));
    });
    await checkAsyncProperty(property, 400);
  });

  test("S-4.2, S-7 push() answers any body and header without an error of ours", async () => {
    const encoding = fc.constantFrom("gzip", "gzip", "", "br, gzip", "identity");
    const checksum = fc.constantFrom("right", "right", "none", "wrong");
    const property = fc.asyncProperty(
      fc.record({ name: tableName, body, headers, encoding, checksum }),
      async (request) => {
        const sums = { right: sha256(request.body.plain), none: "", wrong: "0".repeat(64) };
        const reply = await app.send(`/api/v1/sync/push/${request.name}`, {
          method: "POST",
          headers: {
            ...request.headers,
            "Content-Encoding": request.encoding,
            "X-Content-SHA256": sums[request.checksum as keyof typeof sums],
          },
          body: request.body.bytes,
        });
        expectHarmless(reply);
      },
    );
    await checkAsyncProperty(property, 600);
  });

  test("S-4.1, S-4.2 every page is still readable after that", async () => {
    for (const name of TABLE_NAMES) {
      const reply = await app.pull(name, "?limit=5000");
      expect([name, reply.status]).toEqual([name, 200]);
      expect(reply.json["count"]).toBe(reply.json["total"]);
    }
  });

  test("S-7, D-3.11 any method and path is answered without an error of ours", async () => {
    const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");
    const segment = fc.oneof(
      fc.constantFrom("api", "v1", "sync", "pull", "push", "status", "notes", "health", "..", "."),
      fc.webSegment(),
    );
    // Bun's `fetch` sends one slash where an address begins with two.
    const path = fc
      .array(segment, { maxLength: 7 })
      .map((segments) => new URL(`http://localhost/${segments.join("/")}`))
      .map(({ pathname }) => pathname.replace(/^\/+/, "/"));
    const property = fc.asyncProperty(method, path, headers, async (name, target, given) => {
      expectHarmless(await app.send(target, { method: name, headers: given }));
    });
    await checkAsyncProperty(property, 400);
  });

  test("S-7 bytes that are hardly HTTP do not harm the service", async () => {
    const line = fc.oneof(
      fc.constantFrom("GET /api/v1/sync/status HTTP/1.1", "Host: localhost", "Content-Length: 3"),
      fc.constantFrom(`X-Sync-Key: ${SYNC_KEY}`, "Transfer-Encoding: chunked", "", "0", "3", "abc"),
      fc.stringMatching(/^[\t\x20-\xff]{0,30}$/),
    );
    const text = fc.array(line, { maxLength: 8 }).map((lines) => `${lines.join("\r\n")}\r\n\r\n`);
    const property = fc.asyncProperty(text, async (request) => {
      // A request without an end gets no reply, so one that is whole follows.
      const whole = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      const reply = await rawExchange(app.url, request + whole.repeat(20)).catch(() => null);
      if (reply !== null) expect([reply.status < 500 || reply.status === 505]).toEqual([true]);
      expect((await app.send("/v1/health")).status).toBe(200);
    });
    await checkAsyncProperty(property, 150);
  });
});
