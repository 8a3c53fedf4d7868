// The reply of a pull: status, headers, bytes.
import { describe, expect, test } from "bun:test";
import { gunzip, gzip, sha256, textOf, utf8 } from "../support/bytes.ts";
import { bodyText } from "../support/raw-http.ts";
import { requestText, type SyncApp, startApp } from "../support/sync-app.ts";

const EMPTY_PAGE =
  '{"table":"notes","since":null,"count":0,"total":0,"offset":0,"limit":1000,"has_more":false,"next_offset":null,"records":[]}';
/** Bytes of a page with one note whose name and body are empty. */
const ONE_NOTE_BYTES = EMPTY_PAGE.length + '{"name":"","body":""}'.length;

describe("the reply of pull()", () => {
  test("S-2.2, S-4.1.3 pull() answers the page as compact JSON, byte for byte", async () => {
    const app = await startApp();
    expect((await app.pull("notes")).text).toBe(EMPTY_PAGE);
    await app.push("notes", { records: [{ name: "b", body: "2" }, { name: "a" }] });
    expect((await app.pull("notes", "?limit=1&since=x")).text).toBe(
      '{"table":"notes","since":"x","count":1,"total":2,"offset":0,"limit":1,"has_more":true,"next_offset":1,"records":[{"name":"a","body":null}]}',
    );
    expect((await app.pull("notes", "?limit=1&offset=1")).text).toBe(
      '{"table":"notes","since":null,"count":1,"total":2,"offset":1,"limit":1,"has_more":false,"next_offset":null,"records":[{"name":"b","body":"2"}]}',
    );
  });

  test("S-4.1.3 pull() writes non-ASCII characters as they are, in UTF-8", async () => {
    const app = await startApp();
    const name = "žluťoučký 名前 🦊 \u2028\u00a0\ufeff\u007f";
    await app.push("notes", { records: [{ name, body: 'a"b\\c/\n\t\u0001' }] });
    const { wire, text } = await app.pull("notes");
    expect(Buffer.from(wire).includes(utf8(`"name":"${name}"`))).toBeTrue();
    expect(text).toContain(String.raw`"body":"a\"b\\c/\n\t\u0001"`);
    expect(text).not.toContain(String.raw`\u2028`);
  });

  test("S-4.1.1 pull() answers 400 {error} for an unknown table", async () => {
    const app = await startApp();
    const reply = await app.pull("no_such_table");
    expect(reply.status).toBe(400);
    expect(reply.text).toBe(
      '{"error":"Unknown table \\"no_such_table\\"; tables here: profiles, platform_accounts, listings, samples, notes, events, settings, versions, days"}',
    );
    const others = ["Notes", "repsync_memory", "sqlite_schema", "__proto__", "constructor", "%zz"];
    others.push("toString", "notes%20", "notes%00", "notes;", "a%2Fb", "%ff", "%F0%9F%A6%8A", "*");
    for (const name of others) {
      const { status, json } = await app.pull(name);
      expect([name, status, Object.keys(json)]).toEqual([name, 400, ["error"]]);
    }
  });

  test("S-4.1.1 pull() repeats at most 63 characters of an unknown name", async () => {
    const app = await startApp();
    const { json } = await app.pull("x".repeat(5000));
    expect(json["error"]).toStartWith(`Unknown table "${"x".repeat(63)}"; `);
  });

  test("S-4.1 pull() takes a percent-encoded table name", async () => {
    const app = await startApp();
    expect((await app.pull("n%6ftes")).text).toBe(EMPTY_PAGE);
  });
});

describe("compression of pull()", () => {
  /** Puts one note into the table so that its page has this many bytes. */
  async function pageOf(app: SyncApp, bytes: number, filler = "x") {
    const body = filler.repeat((bytes - ONE_NOTE_BYTES) / utf8(filler).length);
    await app.push("notes", { records: [{ name: "", body }] });
    const [plain, raw] = [
      await app.pull("notes"),
      await app.raw(requestText("GET /api/v1/sync/pull/notes")),
    ];
    return { plain, raw };
  }

  const names = (lines: readonly (readonly [string, string])[]) =>
    lines.map(([name]) => name.toLowerCase()).sort();

  test("S-4.1.4, S-8.1 pull() sends a body of 1023 bytes as it is", async () => {
    const { plain, raw } = await pageOf(await startApp(), 1023);
    expect(plain.wire.length).toBe(1023);
    expect(raw.headers.get("content-type")).toBe("application/json");
    expect(raw.headers.get("x-content-sha256")).toBe(sha256(raw.body));
    expect(raw.headers.get("content-length")).toBe("1023");
    expect(names(raw.headerLines)).toEqual([
      "cache-control",
      "content-length",
      "content-type",
      "date",
      "x-content-sha256",
      "x-request-id",
    ]);
    expect(bodyText(raw)).toBe(plain.text);
  });

  test("S-4.1.5, S-8.1, S-8.2 pull() sends gzip level 6 from 1024 bytes on", async () => {
    const { plain, raw } = await pageOf(await startApp(), 1024);
    const body = utf8(plain.text);
    expect(body.length).toBe(1024);
    expect(names(raw.headerLines)).toEqual([
      "cache-control",
      "content-encoding",
      "content-length",
      "content-type",
      "date",
      "x-content-sha256",
      "x-original-size",
      "x-request-id",
    ]);
    expect(raw.headers.get("content-type")).toBe("application/json");
    expect(raw.headers.get("content-encoding")).toBe("gzip");
    expect(raw.headers.get("content-length")).toBe(String(raw.body.length));
    expect(raw.headers.get("x-original-size")).toBe("1024");
    expect(raw.headers.get("x-content-sha256")).toBe(sha256(body));
    expect(textOf(gunzip(raw.body))).toBe(plain.text);
    expect(Buffer.from(raw.body)).toEqual(Buffer.from(gzip(body, 6)));
  });

  test("S-4.1.4, S-4.1.5 pull() counts bytes, not characters", async () => {
    // 1023 - 144 and 1024 - 144 bytes hold 293 and 293⅓ characters of three bytes: so the limits are 1023 and 1026.
    expect(ONE_NOTE_BYTES).toBe(144);
    const below = await pageOf(await startApp(), 1023, "€");
    expect(below.plain.headers.get("content-encoding")).toBeNull();
    const above = await pageOf(await startApp(), 1026, "€");
    expect(above.plain.text.length).toBeLessThan(1024);
    expect(above.plain.headers.get("content-encoding")).toBe("gzip");
    expect(above.plain.headers.get("x-original-size")).toBe("1026");
    expect(above.plain.headers.get("x-content-sha256")).toBe(sha256(above.plain.text));
  });

  test("S-4.1.5, S-8.2 pull() keeps level 6 and the headers for large pages", async () => {
    const app = await startApp();
    const records = Array.from({ length: 5000 }, (_, i) => ({
      name: `note ${i}`,
      body: sha256(String(i)),
    }));
    await app.pushGzip("notes", JSON.stringify({ records }));
    const raw = await app.raw(requestText("GET /api/v1/sync/pull/notes?limit=5000"));
    const body = gunzip(raw.body);
    expect(body.length).toBeGreaterThan(400_000);
    // Compressed in pieces on a thread, the bytes may differ a little from those of one call, but not the level.
    const distance = (level: number) => Math.abs(gzip(body, level).length - raw.body.length);
    const levels = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(levels.toSorted((a, b) => distance(a) - distance(b))[0]).toBe(6);
    expect(raw.headers.get("content-length")).toBe(String(raw.body.length));
    expect(raw.headers.get("x-original-size")).toBe(String(body.length));
    expect(raw.headers.get("x-content-sha256")).toBe(sha256(body));
    expect(raw.headers.has("transfer-encoding")).toBeFalse();
  });

  test("S-4.1.5 pull() sends gzip whatever Accept-Encoding says", async () => {
    const app = await startApp();
    await app.push("notes", { records: [{ name: "a", body: "x".repeat(2000) }] });
    for (const accepted of ["identity", "br", "gzip;q=0", "*;q=0", ""]) {
      const raw = await app.raw(
        requestText("GET /api/v1/sync/pull/notes", [`Accept-Encoding: ${accepted}`]),
      );
      expect(raw.headers.get("content-encoding")).toBe("gzip");
    }
  });

  test("S-4.1.6 X-Content-SHA256 is the lowercase hexadecimal SHA-256 of the uncompressed bytes", async () => {
    const app = await startApp();
    // Of the literal empty page, by sha256sum.
    const empty = await app.pull("notes");
    expect(empty.headers.get("x-content-sha256")).toBe(sha256(EMPTY_PAGE));
    expect(empty.headers.get("x-content-sha256")).toMatch(/^[0-9a-f]{64}$/);
    await app.push("notes", { records: [{ name: "ž", body: "€".repeat(1000) }] });
    const page = await app.pull("notes");
    expect(page.headers.get("content-encoding")).toBe("gzip");
    expect(page.headers.get("x-content-sha256")).toBe(sha256(utf8(page.text)));
  });

  test("D-3.11 HEAD has the headers of GET and no body", async () => {
    const app = await startApp();
    for (const body of ["short", "x".repeat(2000)]) {
      await app.push("notes", { records: [{ name: "a", body }] });
      const get = await app.raw(requestText("GET /api/v1/sync/pull/notes"));
      const head = await app.raw(requestText("HEAD /api/v1/sync/pull/notes"));
      expect(head.status).toBe(200);
      expect(head.body.length).toBe(0);
      expect(names(head.headerLines)).toEqual(names(get.headerLines));
      for (const name of ["content-type", "content-length", "content-encoding"]) {
        expect(head.headers.get(name)).toBe(get.headers.get(name));
      }
      expect(head.headers.get("x-content-sha256")).toBe(get.headers.get("x-content-sha256"));
      expect(head.headers.get("x-original-size")).toBe(get.headers.get("x-original-size"));
    }
  });
});
