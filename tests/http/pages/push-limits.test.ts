// Bodies of a push that are too large, refused without being read or inflated past the limit.
import { describe, expect, test } from "bun:test";
import { gzip, joinBytes, sha256, utf8 } from "../support/bytes.ts";
import { bodyText, RawConnection } from "../support/raw-http.ts";
import { requestText, SYNC_KEY, startApp } from "../support/sync-app.ts";

const PUSH = "POST /api/v1/sync/push/notes";
const TOO_LARGE = (bytes: number) =>
  `{"error":"Body is larger than ${bytes} bytes; send fewer records at a time"}`;
const INFLATED_TOO_LARGE = (bytes: number) =>
  `{"error":"Body is larger than ${bytes} bytes after decompression; send fewer records at a time"}`;

/** A push body of exactly this many bytes, with one note. */
function bodyOf(bytes: number): string {
  const frame = '{"records":[{"name":"a","body":""}]}';
  return frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`);
}

describe("the size of a push body as sent", () => {
  test("D-3.5.7, D-1.3.8 push() takes a body of the limit and answers 413 to one byte more", async () => {
    const app = await startApp({ env: { SYNC_MAX_BODY_BYTES: "1000" } });
    expect((await app.push("notes", bodyOf(1000))).status).toBe(200);
    const reply = await app.push("notes", bodyOf(1001));
    expect([reply.status, reply.text]).toEqual([413, TOO_LARGE(1000)]);
  });

  test("D-3.5.7 push() answers 413 to a declared size before any of the body is sent", async () => {
    const app = await startApp();
    const declared = 32 * 1024 * 1024 + 1;
    for (const extra of [[], ["Content-Encoding: gzip"], ["Expect: 100-continue"]]) {
      const connection = await RawConnection.open(app.url);
      await connection.write(requestText(PUSH, [`Content-Length: ${declared}`, ...extra]));
      let reply = await connection.readReply();
      if (reply.status === 100) reply = await connection.readReply();
      expect([reply.status, bodyText(reply)]).toEqual([413, TOO_LARGE(declared - 1)]);
    }
  });

  test.each(["localhost", "a", "::/?#", ""])(
    "D-3.5.7 push() answers 413 to chunks that pass the limit while they come, with Host %p",
    async (host) => {
      const app = await startApp({ env: { SYNC_MAX_BODY_BYTES: "1000000" } });
      const connection = await RawConnection.open(app.url);
      const head = requestText(PUSH, ["Transfer-Encoding: chunked"]);
      await connection.write(head.replace("Host: localhost", `Host: ${host}`));
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      for (let sentBytes = 0; sentBytes <= 1_000_000; sentBytes += 0x10000) {
        await connection.write(chunk);
      }
      const reply = await connection.readReply();
      expect([reply.status, bodyText(reply)]).toEqual([413, TOO_LARGE(1_000_000)]);
      await connection.readToEnd();
    },
  );

  test("D-3.5.7, D-11.8.5 what comes at once behind the limit is read and forgotten, and the connection goes on", async () => {
    const app = await startApp({ env: { SYNC_MAX_BODY_BYTES: "1000000" } });
    const connection = await RawConnection.open(app.url);
    await connection.write(requestText(PUSH, ["Transfer-Encoding: chunked"]));
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    for (let i = 0; i < 65; i++) await connection.write(chunk);
    await connection.write("0\r\n\r\n");
    const reply = await connection.readReply();
    expect([reply.status, bodyText(reply)]).toEqual([413, TOO_LARGE(1_000_000)]);
    await connection.write(requestText("GET /api/v1/sync/status"));
    expect((await connection.readReply()).status).toBe(200);
  });

  test("D-3.5.7 push() takes chunks up to the limit", async () => {
    const app = await startApp({ env: { SYNC_MAX_BODY_BYTES: "1000" } });
    const body = bodyOf(1000);
    const chunks = [...body].map((character) => `1\r\n${character}\r\n`).join("");
    const head = requestText(PUSH, ["Transfer-Encoding: chunked"]);
    const reply = await app.raw(`${head}${chunks}0\r\n\r\n`);
    expect([reply.status, JSON.parse(bodyText(reply)).upserted]).toEqual([200, 1]);
  });

  test("D-3.5.7 push() answers an unknown table or a wrong key before it looks at the size", async () => {
    const app = await startApp();
    const head = requestText(PUSH, ["Content-Length: 99999999999"]);
    expect((await app.raw(head.replace("notes", "no_such_table"))).status).toBe(400);
    expect((await app.raw(head.replace("X-Sync-Key: ", "X-Sync-Key: x"))).status).toBe(401);
  });
});

describe("the size of a push body after decompression", () => {
  const env = { SYNC_MAX_DECOMPRESSED_BYTES: "100000" };

  test("D-3.5.7, D-1.3.8 push() takes a body of the limit and answers 413 to one byte more", async () => {
    const app = await startApp({ env });
    expect((await app.pushGzip("notes", bodyOf(100_000))).status).toBe(200);
    const reply = await app.pushGzip("notes", bodyOf(100_001));
    expect([reply.status, reply.text]).toEqual([413, INFLATED_TOO_LARGE(100_000)]);
  });

  test("D-3.5.7, D-3.5.11 push() counts all members of a body", async () => {
    const app = await startApp({ env });
    const send = (body: Uint8Array<ArrayBuffer>) =>
      app.send("/api/v1/sync/push/notes", {
        method: "POST",
        headers: { "X-Sync-Key": SYNC_KEY, "Content-Encoding": "gzip" },
        body,
      });
    const members = (count: number) => Array.from({ length: count }, () => gzip(" ".repeat(1000)));
    const atLimit = joinBytes(...members(99), gzip(bodyOf(1000)));
    expect((await send(atLimit)).status).toBe(200);
    expect((await send(joinBytes(atLimit, gzip(" ")))).status).toBe(413);
  });

  test("D-3.5.7 push() answers 413, not 422, when the checksum of a bomb is wrong too", async () => {
    const app = await startApp({ env });
    const headers = { "X-Content-SHA256": sha256("") };
    expect((await app.pushGzip("notes", " ".repeat(100_001), headers)).status).toBe(413);
  });

  test("D-3.5.7 push() finds a bomb far beyond the limit, and takes what compresses as well within it", async () => {
    const app = await startApp({ env: { SYNC_MAX_DECOMPRESSED_BYTES: "20000000" } });
    const spaces = utf8(" ".repeat(19_999_000));
    const large = joinBytes(spaces, utf8(bodyOf(1000)));
    expect((await app.pushGzip("notes", large)).status).toBe(200);
    expect((await app.pushGzip("notes", joinBytes(utf8(" "), large))).status).toBe(413);
    expect((await app.pushGzip("notes", joinBytes(spaces, spaces, spaces))).status).toBe(413);
    const cut = await app.send("/api/v1/sync/push/notes", {
      method: "POST",
      headers: { "X-Sync-Key": SYNC_KEY, "Content-Encoding": "gzip" },
      body: gzip(large).slice(0, -1),
    });
    expect([cut.status, cut.json["type"]]).toEqual([422, "integrity_error"]);
  });
});

describe("what a push body holds", () => {
  const TOO_MUCH = (count: number, what: string) =>
    `{"error":"The body has more than ${count} ${what}; send fewer at a time"}`;
  const RECORDS = "records and tombstones";
  const notes = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `${i}` }));
  const deleted = [{ key: { name: "x" }, deleted_at: "2026-01-01T00:00:00Z" }];

  test("D-11.2.1, D-1.3.8 push() takes as many records and tombstones as the setting says, and answers 413 to one more", async () => {
    const app = await startApp({ env: { SYNC_MAX_PUSH_RECORDS: "3" } });
    expect((await app.push("notes", { records: notes(3) })).status).toBe(200);
    for (const body of [{ records: notes(4) }, { records: notes(3), deleted }]) {
      const reply = await app.push("notes", body);
      expect([reply.status, reply.text]).toEqual([413, TOO_MUCH(3, RECORDS)]);
    }
    const dryRun = await app.push(
      "notes",
      { deleted: [...deleted, ...deleted, ...deleted, ...deleted] },
      { "X-Sync-Dry-Run": "deletes" },
    );
    expect([dryRun.status, dryRun.text]).toEqual([413, TOO_MUCH(3, RECORDS)]);
    expect((await app.pull("notes")).json["total"]).toBe(3);
  });

  test("D-11.2.1 push() answers 413 to 100,001 records, whatever the rest of the body is", async () => {
    const app = await startApp();
    const many = `{"records":[${"{},".repeat(100_000)}`;
    for (const body of [`${many}{}]}`, `${many}{},`, `${many}{"a":tru`]) {
      const plain = await app.push("notes", body);
      expect([plain.status, plain.text]).toEqual([413, TOO_MUCH(100_000, RECORDS)]);
      const zipped = await app.pushGzip("notes", body, { "X-Content-SHA256": "0".repeat(64) });
      expect([zipped.status, zipped.text]).toEqual([413, TOO_MUCH(100_000, RECORDS)]);
    }
    expect((await app.push("notes", `${many.slice(0, -1)}]}`)).json["error_count"]).toBe(100_000);
  });

  test("D-11.2.1 push() takes 2,000,000 values and answers 413 to one more, and writes nothing then", async () => {
    const app = await startApp();
    // The record, its two texts, and the list are values too.
    const record = (members: number) =>
      `{"name":"a","required":"","a_json":[${"1,".repeat(members - 1)}1]}`;
    const bodyWith = (values: number) => `{"records":[${record(values - 4)}]}`;
    const reply = await app.push("samples", bodyWith(2_000_001));
    expect([reply.status, reply.text]).toEqual([413, TOO_MUCH(2_000_000, "values")]);
    expect((await app.pull("samples")).json["total"]).toBe(0);
    expect((await app.push("samples", bodyWith(2_000_000))).json["upserted"]).toBe(1);
  });
});
