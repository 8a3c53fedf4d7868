import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { NodeSecretComparison } from "../../src/adapters/node-crypto/node-crypto.ts";
import {
  SystemClock,
  SystemTimer,
  systemCollectGarbage,
} from "../../src/adapters/system/system.ts";
import { WebCryptoDigest } from "../../src/adapters/webcrypto/web-crypto-digest.ts";
import { ZlibGzip } from "../../src/adapters/zlib/zlib-gzip.ts";
import { readPushBody } from "../../src/usecases/sync/pages/push-records.ts";

const MIB = 1024 * 1024;
const DEPS = {
  gzip: new ZlibGzip(),
  digest: new WebCryptoDigest(),
  comparison: new NodeSecretComparison(),
  clock: new SystemClock(),
  timer: new SystemTimer(),
  collectGarbage: systemCollectGarbage,
  maxDecompressedBytes: 64 * MIB,
  maxPushRecords: 100_000,
};
const NO_RECORDS = {
  records: [],
  deleted: [],
  conflict: null,
  syncTimestamp: null,
  integrity: "no_checksum",
} as const;

function readPlain(body: string) {
  return readPushBody(DEPS, { bytes: Buffer.from(body), isGzip: false, checksum: null });
}

/** Reads a body after compressing it. */
function readGzip(body: string) {
  return readPushBody(DEPS, { bytes: gzipSync(body), isGzip: true, checksum: null });
}

describe("the deletes of a push body", () => {
  test("D-7.6.1 readPushBody() reads what was deleted, whatever it is", async () => {
    const body = '{"deleted":[{"key":{"k":12345678901234567890},"deleted_at":"2024-02-03"},5]}';
    for (const read of [readPlain, readGzip]) {
      const { records, deleted } = await read(body);
      expect(records).toEqual([]);
      expect(JSON.stringify(deleted)).toBe(
        '[{"key":{"k":12345678901234567890},"deleted_at":"2024-02-03"},5]',
      );
      expect((await read('{"deleted":null}')).deleted).toEqual([]);
    }
  });

  test.each(["{}", '""', "0", "false"])(
    "D-7.6.1 readPushBody() refuses deletes that are %s",
    async (deleted) => {
      for (const read of [readPlain, readGzip]) {
        await expect(read(`{"deleted":${deleted}}`)).rejects.toMatchObject({
          kind: "invalid_request",
          message: "deleted must be an array of {key, deleted_at}",
        });
      }
    },
  );
});

describe("readPushBody() of a large body", () => {
  const records = Array.from({ length: 40_000 }, (_, n) => `{"k":"ä-${n}","price":${n}.50}`);
  const large = `{"sync_timestamp":"2024-02-03","records":[${records.join()}]}`;

  /** Reads by a clock on which every step takes a second; counts the turns that others have. */
  async function readSlowly(body: string, isGzip = true) {
    let ms = 0;
    let turns = 0;
    const clock = { nowMs: () => 0, monotonicMs: () => (ms += 1_000) };
    const timer = {
      sleep: async () => {
        turns++;
      },
    };
    const bytes = isGzip ? gzipSync(body) : Buffer.from(body);
    const read = await readPushBody({ ...DEPS, clock, timer }, { bytes, isGzip, checksum: null });
    return { ...read, turns };
  }

  test("D-7.9.1, D-3.3.1 readPushBody() takes it apart with turns for others, and loses no digit", async () => {
    for (const isGzip of [true, false]) {
      const read = await readSlowly(large, isGzip);
      expect(JSON.stringify(read.records)).toBe(`[${records.join()}]`);
      expect([read.syncTimestamp, read.turns > 2]).toEqual(["2024-02-03", true]);
    }
  });

  test("D-7.9.1 readPushBody() reads a small one at once", async () => {
    expect((await readSlowly('{"records":[1]}')).turns).toBe(0);
  });

  test("D-7.9.1, S-4.2.4, S-4.2.5 readPushBody() of one that is not JSON is as of a small one", async () => {
    for (const broken of [large.slice(0, -1), `${large}]`, large.replace("ä-7", '"')]) {
      expect(await readPlain(broken)).toEqual(NO_RECORDS);
      await expect(readGzip(broken)).rejects.toMatchObject({ kind: "integrity" });
    }
  });

  test.each([
    [`{"x":${"[".repeat(700_000)}`, "The body is nested too deeply"],
    [`{"x":${"1".repeat(2 * MIB)}}`, "The body has a name or a number of more than 1 MiB"],
  ])("D-7.9.1 readPushBody() refuses what would have to be parsed whole", async (body, message) => {
    for (const read of [readPlain, readGzip]) {
      await expect(read(body)).rejects.toMatchObject({ kind: "invalid_request", message });
    }
  });
});
