// Memory of the real service under bodies that are made to fill it.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { constants, deflateRawSync } from "node:zlib";
import { ADMIN_ENV, Person } from "../http/reputation/people.ts";
import { gzip, joinBytes } from "../http/support/bytes.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { RawConnection } from "../http/support/raw-http.ts";
import { requestText, SYNC_KEY } from "../http/support/sync-app.ts";
import { HealthWatch } from "../support/health-watch.ts";
import { type ServiceProcess, startService } from "./support/service-process.ts";

const MIB = 1024 * 1024;
const HAS_PROC = existsSync("/proc/self/status");

/** The most resident memory that the service has had so far, in bytes. */
function peakBytes({ pid }: ServiceProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** About 1 MB of gzip that would inflate to 1 GiB of zeros, in one member that never ends or in 64 that do. */
function bomb(members: "one" | "many"): Uint8Array<ArrayBuffer> {
  const zeros = new Uint8Array(16 * MIB);
  if (members === "many") return joinBytes(...new Array<Uint8Array>(64).fill(gzip(zeros, 9)));
  const piece = deflateRawSync(zeros, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const header = gzip("").subarray(0, 10);
  return joinBytes(header, ...new Array<Uint8Array>(64).fill(piece));
}

describe.skipIf(!HAS_PROC)("memory of the service", () => {
  test.each(["one", "many"] as const)(
    "D-3.5.7 a bomb of 1 GiB in about 1 MB (%s member) is 413 with memory about as before",
    async (members) => {
      const body = bomb(members);
      expect(body.length).toBeLessThan(1.2 * MIB);
      const service = await startService();
      await service.push("notes", { records: [{ name: "a" }] });
      const beforeBytes = peakBytes(service);
      const push = () =>
        service.send("/api/v1/sync/push/notes", {
          method: "POST",
          headers: { "X-Sync-Key": SYNC_KEY, "Content-Encoding": "gzip" },
          body,
        });
      const replies = await Promise.all([push(), push(), push()]);
      expect(replies.map(({ status }) => status)).toEqual([413, 413, 413]);
      // One inflated body alone would be 256 MiB, the default limit; garbage is collected from 220 MB on.
      expect(peakBytes(service) - beforeBytes).toBeLessThan(200 * MIB);
      expect((await service.pull("notes")).json["total"]).toBe(1);
    },
  );

  test("D-11.8.5 a body of 600 MiB that is refused is dropped as it comes", async () => {
    const service = await startService();
    await service.push("notes", { records: [{ name: "a" }] });
    const beforeBytes = peakBytes(service);
    const connection = await RawConnection.open(service.url);
    const head = ["POST /api/v1/sync/push/notes HTTP/1.1", "Host: localhost"];
    await connection.write(`${head.join("\r\n")}\r\nContent-Length: ${600 * MIB}\r\n\r\n`);
    const mebibyte = "x".repeat(MIB);
    for (let i = 0; i < 600; i++) await connection.write(mebibyte);
    expect((await connection.readReply()).status).toBe(401);
    expect(peakBytes(service) - beforeBytes).toBeLessThan(200 * MIB);
  });

  test("D-7.9 a page of 1,500 rows of 200 KB takes the memory of its 32 MiB", async () => {
    const folder = makeTempFolder();
    const filling = await startService({ folder });
    const body = "x".repeat(200_000);
    for (let from = 0; from < 1_500; from += 100) {
      const records = Array.from({ length: 100 }, (_, i) => ({ name: `${from + i}`, body }));
      await filling.pushGzip("notes", JSON.stringify({ records }));
    }
    await filling.stop();
    const service = await startService({ folder });
    expect((await service.pull("notes", "?limit=1")).json["total"]).toBe(1_500);
    const beforeBytes = peakBytes(service);
    const { json } = await service.pull("notes", "?limit=5000");
    expect(json).toMatchObject({ count: 167, limit: 167, total: 1_500, next_offset: 167 });
    // Rows, their JSON as text and as bytes, and gzip; all rows took 1.15 GB.
    expect(peakBytes(service) - beforeBytes).toBeLessThan(250 * MIB);
  });

  // A record took about 200 bytes: 6.6 GB, and health waited for 7 s.
  const RECORDS = "100000 records and tombstones";
  test.each([
    ["35 million records in 100 KB", RECORDS, () => "{},".repeat(35_000_000)],
    ["31 million numbers in 60 KB", RECORDS, () => "1,".repeat(31_000_000)],
    ["10 million values", "2000000 values", () => `{"body":[${"[],".repeat(10_000_000)}`],
  ])(
    "D-11.2.1, D-11.2.2 %s are 413 with memory about as before, and health answers meanwhile",
    async (_what, most, records) => {
      const service = await startService();
      await service.push("notes", { records: [{ name: "a" }] });
      const beforeBytes = peakBytes(service);
      const health = new HealthWatch(service);
      const body = `{"records":[${records()}`;
      const { status, json } = await service.pushGzip("notes", body);
      const error = `The body has more than ${most}; send fewer at a time`;
      expect([status, json]).toEqual([413, { error }]);
      expect(await health.stop()).toBeLessThan(1_000);
      // The inflated body and, for each value, 100 bytes.
      expect(peakBytes(service) - beforeBytes).toBeLessThan(500 * MIB);
      expect((await service.pull("notes")).json["total"]).toBe(1);
    },
  );

  test.each([
    ["empty objects", "{},"],
    ["numbers of many digits", "1.0,"],
  ])("D-11.2.2 2,000,000 %s are taken with about 100 bytes for each", async (_what, item) => {
    const service = await startService();
    await service.push("samples", { records: [{ name: "a", required: "" }] });
    const beforeBytes = peakBytes(service);
    const list = `[${item.repeat(1_999_995)}1]`;
    const body = `{"records":[{"name":"b","required":"","a_json":${list}}]}`;
    expect((await service.pushGzip("samples", body)).json["upserted"]).toBe(1);
    expect(peakBytes(service) - beforeBytes).toBeLessThan(
      3 * body.length + 100 * 2_000_000 + 128 * MIB,
    );
  });

  const LARGE_BYTES = 150_000_000;
  test.each([
    ["one byte", "x", 1],
    ["two bytes, for one that is not Latin in each thousand", `${"x".repeat(997)}漢`, 2],
  ])(
    "D-11.2.2 a text of 150 MB whose characters take %s is kept in three times its size",
    async (_what, part, bytesPerChar) => {
      const service = await startService();
      await service.push("notes", { records: [{ name: "a" }] });
      const beforeBytes = peakBytes(service);
      const body = part.repeat(LARGE_BYTES / Buffer.byteLength(part));
      const { json } = await service.pushGzip(
        "notes",
        `{"records":[{"name":"b","body":"${body}"}]}`,
      );
      expect(json["upserted"]).toBe(1);
      expect(peakBytes(service) - beforeBytes).toBeLessThan(
        3 * bytesPerChar * LARGE_BYTES + 128 * MIB,
      );
    },
  );

  test("D-14.4.2 a file of any length is imported within 256 MiB", async () => {
    const service = await startService({ env: ADMIN_ENV });
    const { token } = await Person.signIn(service, "root");
    const connection = await RawConnection.open(service.url);
    const lines = ["Content-Type: text/csv", `Authorization: Bearer ${token}`];
    const more = [...lines, "Transfer-Encoding: chunked"];
    await connection.write(requestText("POST /api/v1/sync/import/notes", more));
    await connection.write("a\r\nname,body\n\r\n");
    for (let n = 0; n < 600_000; n += 20_000) {
      const rows = Array.from({ length: 20_000 }, (_, i) => `k${n + i},body of ${n + i}\n`).join(
        "",
      );
      await connection.write(`${rows.length.toString(16)}\r\n${rows}\r\n`);
    }
    await connection.write("0\r\n\r\n");
    expect(await connection.readUntil('{"type":"finished"}')).toContain('"new":600000,');
    expect(peakBytes(service)).toBeLessThan(256 * MIB);
  });

  test("D-3.5.8 half a gigabyte that comes after a refusal is not kept", async () => {
    const service = await startService();
    const beforeBytes = peakBytes(service);
    const connection = await RawConnection.open(service.url);
    const head = requestText("POST /api/v1/sync/push/notes", ["Transfer-Encoding: chunked"]);
    await connection.write(head.replace("X-Sync-Key: ", "X-Sync-Key: not "));
    // The service reads for a second, then ends the connection (D-11.8).
    const chunk = joinBytes(Buffer.from("100000\r\n"), new Uint8Array(MIB), Buffer.from("\r\n"));
    for (let i = 0; i < 512; i++) await connection.write(chunk);
    await connection.write("0\r\n\r\n");
    expect((await service.send("/api/v1/sync/status")).status).toBe(200);
    expect(peakBytes(service) - beforeBytes).toBeLessThan(150 * MIB);
  });
});
