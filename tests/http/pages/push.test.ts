// How the body of a push is read: compression, checksum, JSON, records.
import { describe, expect, test } from "bun:test";
import { deflateRawSync, deflateSync } from "node:zlib";
import { gzip, joinBytes, sha256, utf8 } from "../support/bytes.ts";
import { SYNC_KEY, type SyncApp, startApp } from "../support/sync-app.ts";

const NO_RECORDS = '{"table":"notes","upserted":0,"message":"No records to sync"}';
const ONE_NOTE = '{"records":[{"name":"a"}]}';
const WRITTEN = '{"table":"notes","received":1,"upserted":1,"integrity":"no_checksum"}';
const VERIFIED = '{"table":"notes","received":1,"upserted":1,"integrity":"verified"}';

/** Sends the bytes as they are, declared as gzip. */
function sendGzip(app: SyncApp, body: Uint8Array<ArrayBuffer>, headers = {}) {
  return app.send("/api/v1/sync/push/notes", {
    method: "POST",
    headers: { "X-Sync-Key": SYNC_KEY, "Content-Encoding": "gzip", ...headers },
    body,
  });
}

describe("the reply of push()", () => {
  test("S-4.2.12, S-2.4 push() answers the push result, byte for byte", async () => {
    const app = await startApp();
    const reply = await app.push("notes", ONE_NOTE);
    expect([reply.status, reply.text]).toEqual([200, WRITTEN]);
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(reply.headers.get("content-encoding")).toBeNull();
  });

  test("S-4.2.1 push() answers 400 {error} for an unknown table, whatever the body", async () => {
    const app = await startApp();
    for (const body of [ONE_NOTE, "", "not JSON", '{"records":5}']) {
      const reply = await app.push("no_such_table", body);
      expect([reply.status, Object.keys(reply.json)]).toEqual([400, ["error"]]);
      expect(reply.json["error"]).toStartWith('Unknown table "no_such_table"');
    }
    const damaged = await app.pushGzip("%zz", ONE_NOTE, { "X-Content-SHA256": "wrong" });
    expect(damaged.status).toBe(400);
  });

  test("S-4.2.6, D-3.5.2 push() answers 200 with a message when records is missing or empty", async () => {
    const app = await startApp();
    const bodies = ["{}", '{"records":[]}', '{"records":null}', '{"Records":[{"name":"a"}]}'];
    for (const body of [...bodies, '{"__proto__":{"records":[{"name":"a"}]}}']) {
      const reply = await app.push("notes", body);
      expect([reply.status, reply.text]).toEqual([200, NO_RECORDS]);
      const compressed = await app.pushGzip("notes", body);
      expect([compressed.status, compressed.text]).toEqual([200, NO_RECORDS]);
    }
  });

  test("D-3.5.1 push() takes a JSON null as an empty object", async () => {
    const app = await startApp();
    expect((await app.push("notes", "null")).text).toBe(NO_RECORDS);
    expect((await app.pushGzip("notes", " null ")).text).toBe(NO_RECORDS);
  });

  test("D-3.5 push() answers 400 {error} when records is not an array or the body no object", async () => {
    const app = await startApp();
    const records = ['{"name":"a"}', '"a"', "5", "true", "false", "0", '""'];
    const bodies = ["[]", '[{"name":"a"}]', '"a"', '""', "5", "1.0", "false", "-0", "1e400"];
    const cases = [
      ...records.map((value) => ({
        body: `{"records":${value}}`,
        error: "records must be an array of objects",
      })),
      ...bodies.map((body) => ({
        body,
        error: "The body must be a JSON object with a records array",
      })),
    ];
    for (const { body, error } of cases) {
      for (const reply of [await app.push("notes", body), await app.pushGzip("notes", body)]) {
        expect([body, reply.status, reply.json]).toEqual([body, 400, { error }]);
      }
    }
    expect((await app.pull("notes")).json["total"]).toBe(0);
  });

  test("S-2.3 push() takes the last of two fields of one name, and ignores unknown ones", async () => {
    const app = await startApp();
    const twice =
      '{"records":[{"name":"a"}],"records":[{"name":"b"},{"name":"c","name":"d"}],"x":1}';
    expect((await app.push("notes", twice)).json["received"]).toBe(2);
    expect((await app.records("notes")).map(({ name }) => name)).toEqual(["b", "d"]);
  });

  test("D-3.7 push() takes any sync_timestamp without an effect on rows", async () => {
    const app = await startApp();
    for (const value of ['"2026-01-01T00:00:00Z"', '"yesterday"', "5", "null", "{}", '"\\ud800"']) {
      const body = `{"sync_timestamp":${value},"records":[{"name":"a"}]}`;
      expect((await app.push("notes", body)).text).toBe(WRITTEN);
    }
    expect((await app.records("notes"))[0]).toEqual({ name: "a", body: null });
  });
});

describe("a plain body of push()", () => {
  test.each([
    ["nothing", ""],
    ["a blank", " "],
    ["no JSON", "not JSON"],
    ["cut JSON", '{"records":[{"name":"a"}'],
    ["two values", '{"records":[{"name":"a"}]}{}'],
    ["single quotes", "{'records':[]}"],
    ["a trailing comma", '{"records":[{"name":"a"},]}'],
    ["NaN", '{"records":[{"name":NaN}]}'],
    ["a comment", '/**/{"records":[{"name":"a"}]}'],
    ["form data", "records=a"],
    ["a control character in a text", '{"records":[{"name":"a\nb"}]}'],
  ])("S-4.2.5 push() takes %s for an empty object", async (_, body) => {
    const app = await startApp();
    const reply = await app.push("notes", body);
    expect([reply.status, reply.text]).toEqual([200, NO_RECORDS]);
  });

  test("S-4.2.5, D-3.5.13 push() takes bytes that are not UTF-8 for an empty object", async () => {
    const app = await startApp();
    const invalid = joinBytes(utf8('{"records":[{"name":"'), new Uint8Array([0xff]), utf8('"}]}'));
    const path = "/api/v1/sync/push/notes";
    const headers = { "X-Sync-Key": SYNC_KEY };
    const reply = await app.send(path, { method: "POST", headers, body: invalid });
    expect([reply.status, reply.text]).toEqual([200, NO_RECORDS]);
    const utf16 = new Uint8Array(Buffer.from(`\ufeff${ONE_NOTE}`, "utf16le"));
    const other = await app.send(path, { method: "POST", headers, body: utf16 });
    expect([other.status, other.text]).toEqual([200, NO_RECORDS]);
  });

  test("S-4.2.5, D-3.5.13 push() reads a body with a byte order mark", async () => {
    const app = await startApp();
    expect((await app.push("notes", `\ufeff${ONE_NOTE}`)).text).toBe(WRITTEN);
  });

  test("S-4.2.5, S-2.4 push() does not verify the checksum of a plain body, and says verified", async () => {
    const app = await startApp();
    for (const checksum of [sha256(ONE_NOTE), "0".repeat(64), "nonsense"]) {
      const reply = await app.push("notes", ONE_NOTE, { "X-Content-SHA256": checksum });
      expect([reply.status, reply.text]).toEqual([200, VERIFIED]);
    }
  });

  test("D-3.5.3 push() takes an empty X-Content-SHA256 for none", async () => {
    const app = await startApp();
    for (const checksum of ["", " "]) {
      const headers = { "X-Content-SHA256": checksum };
      expect((await app.push("notes", ONE_NOTE, headers)).text).toBe(WRITTEN);
      expect((await app.pushGzip("notes", ONE_NOTE, headers)).text).toBe(WRITTEN);
    }
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/octet-stream",
    "nonsense",
    "",
  ])("S-4.2 push() reads JSON whatever the Content-Type says: %p", async (type) => {
    const app = await startApp();
    expect((await app.push("notes", ONE_NOTE, { "Content-Type": type })).text).toBe(WRITTEN);
  });

  test.each(["identity", "br", "deflate", "zip", "gz ip", ""])(
    "S-4.2 push() takes a body with Content-Encoding %p as it is",
    async (encoding) => {
      const app = await startApp();
      expect((await app.push("notes", ONE_NOTE, { "Content-Encoding": encoding })).text).toBe(
        WRITTEN,
      );
    },
  );
});

describe("a gzip body of push()", () => {
  test.each(["gzip", "GZIP", "GZip", "x-gzip", "identity, gzip", "gzip, identity", "gzip;q=1"])(
    "S-4.2, S-1.5 push() decompresses when Content-Encoding is %p",
    async (encoding) => {
      const app = await startApp();
      const headers = { "Content-Encoding": encoding };
      expect((await app.pushGzip("notes", ONE_NOTE, headers)).text).toBe(VERIFIED);
    },
  );

  test("S-4.2, S-2.4 push() compares the checksum with the decompressed bytes, in any case", async () => {
    const app = await startApp();
    const withoutHeader = await sendGzip(app, gzip(ONE_NOTE));
    expect(withoutHeader.text).toBe(WRITTEN);
    expect((await app.pushGzip("notes", ONE_NOTE)).text).toBe(VERIFIED);
    const upper = { "X-Content-SHA256": sha256(ONE_NOTE).toUpperCase() };
    expect((await app.pushGzip("notes", ONE_NOTE, upper)).text).toBe(VERIFIED);
  });

  test("S-4.2.3 push() answers 422 with 16 characters of each hash on a mismatch", async () => {
    const app = await startApp();
    const actual = sha256(ONE_NOTE).slice(0, 16);
    const wrong = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const reply = await app.pushGzip("notes", ONE_NOTE, { "X-Content-SHA256": wrong });
    expect(reply.status).toBe(422);
    expect(reply.text).toBe(
      `{"error":"Checksum mismatch: expected 0123456789abcdef, got ${actual}","type":"integrity_error"}`,
    );
    const ofCompressed = sha256(gzip(ONE_NOTE));
    const others = [ofCompressed, "x", sha256(ONE_NOTE).slice(0, 63), `${sha256(ONE_NOTE)}0`];
    for (const checksum of others) {
      const { status, json } = await app.pushGzip("notes", ONE_NOTE, {
        "X-Content-SHA256": checksum,
      });
      expect([status, json["type"]]).toEqual([422, "integrity_error"]);
      expect(json["error"]).toContain(checksum.slice(0, 16));
      expect(json["error"]).not.toContain(sha256(ONE_NOTE).slice(0, 17));
    }
    expect((await app.pull("notes")).json["total"]).toBe(0);
  });

  test("S-4.2.2, S-4.2.3, S-4.2.4, D-3.5.12 push() looks at compression first, then the checksum, then the JSON", async () => {
    const app = await startApp();
    const headers = { "X-Content-SHA256": "wrong" };
    const damaged = await sendGzip(app, utf8("no gzip"), headers);
    expect(damaged.json["error"]).toStartWith("gzip decompression failed");
    const mismatched = await sendGzip(app, gzip("no JSON"), headers);
    expect(mismatched.json["error"]).toStartWith("Checksum mismatch");
    const noObject = await sendGzip(app, gzip("[]"), headers);
    expect(noObject.json["error"]).toStartWith("Checksum mismatch");
  });

  test.each([
    ["nothing", new Uint8Array()],
    ["plain JSON", utf8(ONE_NOTE)],
    ["a cut stream", gzip(ONE_NOTE).slice(0, -9)],
    ["a stream without its length", gzip(ONE_NOTE).slice(0, -1)],
    ["only the header", gzip(ONE_NOTE).slice(0, 10)],
    ["a wrong CRC", flipped(gzip(ONE_NOTE), -8)],
    ["a wrong length", flipped(gzip(ONE_NOTE), -4)],
    ["a flipped bit of data", flipped(gzip(ONE_NOTE), 12)],
    ["an unknown method", flipped(gzip(ONE_NOTE), 2)],
    ["garbage after the stream", joinBytes(gzip(ONE_NOTE), utf8("garbage"))],
    ["one byte after the stream", joinBytes(gzip(ONE_NOTE), utf8("x"))],
    ["zeros after the stream", joinBytes(gzip(ONE_NOTE), new Uint8Array(512))],
    ["a zero before a second member", joinBytes(gzip("{"), new Uint8Array(1), gzip("}"))],
    ["a damaged second member", joinBytes(gzip(ONE_NOTE), gzip(" ").slice(0, -3))],
    ["zlib instead of gzip", new Uint8Array(deflateSync(ONE_NOTE))],
    ["raw deflate", new Uint8Array(deflateRawSync(ONE_NOTE))],
  ])("S-4.2.2, D-3.5.9, D-3.5.10 push() answers 422 for %s", async (_, body) => {
    const app = await startApp();
    const { status, json } = await sendGzip(app, body);
    expect([status, Object.keys(json), json["type"]]).toEqual([
      422,
      ["error", "type"],
      "integrity_error",
    ]);
    expect(json["error"]).toStartWith("gzip decompression failed");
    expect((await app.pull("notes")).json["total"]).toBe(0);
  });

  test("D-3.5.11 push() takes several gzip members as one body", async () => {
    const app = await startApp();
    const pieces = ['{"records":', "", '[{"name":"a"}', "]}"].map((piece) => gzip(piece));
    const reply = await sendGzip(app, joinBytes(...pieces), {
      "X-Content-SHA256": sha256(ONE_NOTE),
    });
    expect([reply.status, reply.text]).toEqual([200, VERIFIED]);
  });

  test.each([
    ["nothing", ""],
    ["no JSON", "not JSON"],
    ["cut JSON", '{"records":['],
    ["two values", "{}{}"],
  ])("S-4.2.4 push() answers 422 when the decompressed body is %s", async (_, body) => {
    const app = await startApp();
    const reply = await app.pushGzip("notes", body);
    expect([reply.status, reply.text]).toEqual([
      422,
      '{"error":"Decompressed body is not valid JSON in UTF-8","type":"integrity_error"}',
    ]);
  });

  test("S-4.2.4, D-3.5.13 push() answers 422 when the decompressed body is not UTF-8", async () => {
    const app = await startApp();
    const invalid = joinBytes(utf8('{"records":[{"name":"'), new Uint8Array([0xc3]), utf8('"}]}'));
    expect((await app.pushGzip("notes", invalid)).json["type"]).toBe("integrity_error");
  });

  test("S-7 push() repeats nothing of a damaged body in its reply", async () => {
    const app = await startApp();
    const { text } = await app.pushGzip("notes", '{"records":[{"name":"topsecret"}');
    expect(text).not.toContain("topsecret");
  });
});

/** A copy with one byte changed; a negative place counts from the end. */
function flipped(bytes: Uint8Array<ArrayBuffer>, at: number): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  const place = at < 0 ? copy.length + at : at;
  copy[place] = (copy[place] ?? 0) ^ 0x55;
  return copy;
}
