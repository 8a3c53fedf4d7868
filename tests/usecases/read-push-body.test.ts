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
import { readPushBody } from "../../src/usecases/sync/pages/read-push-body.ts";

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
const EMPTY = '{"records":[]}';
const EMPTY_SHA256 = "1b8b4c0b6f6ad1d32565952720bc004eeb1f188f62045e4d5525ae2af8c78432";
const NO_RECORDS = {
  records: [],
  deleted: [],
  syncTimestamp: null,
  integrity: "no_checksum",
} as const;

type Body = string | Uint8Array;

function readPlain(body: Body, checksum: string | null = null) {
  return readPushBody(DEPS, { bytes: bytesOf(body), isGzip: false, checksum });
}

/** Reads a body after compressing it. */
function readGzip(body: Body, checksum: string | null = null) {
  return readCompressed(gzipSync(bytesOf(body)), checksum);
}

function readCompressed(bytes: Uint8Array, checksum: string | null = null) {
  return readPushBody(DEPS, { bytes, isGzip: true, checksum });
}

function bytesOf(body: Body): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

describe("readPushBody() of any body", () => {
  for (const [name, read] of [
    ["plain", readPlain],
    ["gzip", readGzip],
  ] as const) {
    test(`S-2.3 readPushBody() reads records and sync_timestamp of a ${name} body`, async () => {
      const body = '{"sync_timestamp":"2024-02-03","records":[{"k":"ä😀"}],"other":1}';
      expect(await read(body)).toEqual({
        records: [{ k: "ä😀" }],
        deleted: [],
        syncTimestamp: "2024-02-03",
        integrity: "no_checksum",
      });
    });

    test(`D-3.3.1 readPushBody() loses no digit of a ${name} body`, async () => {
      const { records } = await read('{"records":[{"n":12345678901234567890.10}]}');
      expect(JSON.stringify(records)).toBe('[{"n":12345678901234567890.10}]');
    });

    test.each(["{}", EMPTY, '{"records":null}', "null", '{"__proto__":{"records":[1]}}'])(
      `S-4.2.6, D-3.5.1, D-3.5.2 readPushBody() finds no records in the ${name} body %s`,
      async (body) => {
        expect(await read(body)).toEqual(NO_RECORDS);
      },
    );

    test(`D-3.5, D-3.5.14 readPushBody() refuses a ${name} body too deep to parse rather than losing it`, async () => {
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
      await expect(read(`{"records":[{"k":1.10,"v":${deep}}]}`)).rejects.toMatchObject({
        kind: "invalid_request",
      });
    });

    test.each(["[]", '[{"k":"a"}]', '"text"', '""', "1", "1.0", "0", "true", "false"])(
      `D-3.5 readPushBody() refuses the ${name} body %s, which is not an object`,
      async (body) => {
        await expect(read(body)).rejects.toMatchObject({
          kind: "invalid_request",
          message: "The body must be a JSON object with a records array",
        });
      },
    );

    test.each(["{}", '""', '"a"', "0", "1.0", "false", "true"])(
      `D-3.5 readPushBody() refuses records that are %s in a ${name} body`,
      async (records) => {
        await expect(read(`{"records":${records}}`)).rejects.toMatchObject({
          kind: "invalid_request",
          message: "records must be an array of objects",
        });
      },
    );

    test(`D-7.6.1 readPushBody() reads what a ${name} body says was deleted, whatever it is`, async () => {
      const body = '{"deleted":[{"key":{"k":12345678901234567890},"deleted_at":"2024-02-03"},5]}';
      const { records, deleted } = await read(body);
      expect(records).toEqual([]);
      expect(JSON.stringify(deleted)).toBe(
        '[{"key":{"k":12345678901234567890},"deleted_at":"2024-02-03"},5]',
      );
      expect((await read('{"deleted":null}')).deleted).toEqual([]);
    });

    test.each(["{}", '""', "0", "false"])(
      `D-7.6.1 readPushBody() refuses deletes that are %s in a ${name} body`,
      async (deleted) => {
        await expect(read(`{"deleted":${deleted}}`)).rejects.toMatchObject({
          kind: "invalid_request",
          message: "deleted must be an array of {key, deleted_at}",
        });
      },
    );

    test.each(["1706933106", "null", "{}", "true"])(
      `D-3.7 readPushBody() has no use for sync_timestamp %s in a ${name} body`,
      async (value) => {
        const body = `{"records":[],"sync_timestamp":${value}}`;
        expect((await read(body)).syncTimestamp).toBeNull();
      },
    );

    test(`D-3.5.5 readPushBody() leaves it to each record of a ${name} body to fail`, async () => {
      const { records } = await read('{"records":[null,1,"a",[],{"k":"a"}]}');
      expect(records).toEqual([null, 1, "a", [], { k: "a" }]);
    });

    test(`S-2.4 readPushBody() of a ${name} body with its checksum says verified`, async () => {
      expect(await read(EMPTY, EMPTY_SHA256)).toEqual({ ...NO_RECORDS, integrity: "verified" });
    });
  }
});

describe("readPushBody() of a large body", () => {
  const records = Array.from({ length: 20_000 }, (_, n) => `{"k":"ä-${n}","price":${n}.50}`);
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
    const bytes = isGzip ? gzipSync(body) : bytesOf(body);
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

describe("readPushBody() of a plain body", () => {
  test.each(["", " ", "{", "not json", "{'records':[1]}", '{"records":[NaN]}', '{"records":[1]}}'])(
    "S-4.2.5 readPushBody() takes %p, which is not JSON, for an empty object",
    async (body) => {
      expect(await readPlain(body)).toEqual(NO_RECORDS);
    },
  );

  test("S-4.2.5 readPushBody() takes bytes that are not UTF-8 for an empty object", async () => {
    const bytes = new Uint8Array([...bytesOf('{"records":["'), 0xff, ...bytesOf('"]}')]);
    expect(await readPlain(bytes)).toEqual(NO_RECORDS);
    expect(await readPlain(gzipSync('{"records":[1]}'))).toEqual(NO_RECORDS);
  });

  test("S-4.2.5, S-2.4 readPushBody() does not compare a plain body with its checksum", async () => {
    expect(await readPlain(EMPTY, "0".repeat(64))).toEqual({
      ...NO_RECORDS,
      integrity: "verified",
    });
    expect(await readPlain("", "nonsense")).toEqual({ ...NO_RECORDS, integrity: "verified" });
  });
});

describe("readPushBody() of a gzip body", () => {
  const whole = gzipSync('{"records":[{"k":"a"}]}');
  const damaged = whole.map((byte, i) => (i === whole.length - 6 ? byte ^ 1 : byte));

  test.each([
    ["nothing", new Uint8Array()],
    ["plain JSON", bytesOf('{"records":[]}')],
    ["a cut header", whole.subarray(0, 5)],
    ["a cut body", whole.subarray(0, 15)],
    ["a cut trailer", whole.subarray(0, -1)],
    ["a wrong CRC", damaged],
  ])("S-4.2.2, D-3.5.9 readPushBody() refuses %s", async (_what, bytes) => {
    const error = await readCompressed(bytes, EMPTY_SHA256).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "AppError", kind: "integrity" });
    expect((error as Error).message).toStartWith("gzip decompression failed: ");
  });

  test.each(["A", "garbage", "\x1f\x8b"])(
    "D-3.5.10 readPushBody() refuses a body that is followed by %p",
    async (garbage) => {
      const bytes = Buffer.concat([whole, Buffer.from(garbage, "latin1")]);
      await expect(readCompressed(bytes)).rejects.toMatchObject({ kind: "integrity" });
    },
  );

  test("D-3.5.10 readPushBody() refuses a body that is followed by a zero and more", async () => {
    const bytes = Buffer.concat([whole, Buffer.from("\0garbage")]);
    await expect(readCompressed(bytes)).rejects.toMatchObject({ kind: "integrity" });
  });

  test("D-3.5.11 readPushBody() reads several members as one body", async () => {
    const members = ['{"rec', 'ords":[{"k', '":"a"}]}', ""].map((part) => gzipSync(part));
    expect((await readCompressed(Buffer.concat(members))).records).toEqual([{ k: "a" }]);
  });

  test("S-4.2.3 readPushBody() names the first 16 characters of each hash on a mismatch", async () => {
    const error = await readGzip(EMPTY, `0123456789abcdef${"0".repeat(48)}`).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ name: "AppError", kind: "integrity" });
    expect((error as Error).message).toBe(
      "Checksum mismatch: expected 0123456789abcdef, got 1b8b4c0b6f6ad1d3",
    );
  });

  test.each(["abc", "0", EMPTY_SHA256.slice(0, 63), `${EMPTY_SHA256}0`, "ü", " "])(
    "S-4.2.3 readPushBody() refuses the checksum %p",
    async (checksum) => {
      await expect(readGzip(EMPTY, checksum)).rejects.toMatchObject({ kind: "integrity" });
    },
  );

  test("S-4.2.3, D-3.5.12 readPushBody() takes a checksum in capital letters too", async () => {
    expect((await readGzip(EMPTY, EMPTY_SHA256.toUpperCase())).integrity).toBe("verified");
  });

  test("S-4.2.3, D-3.5.12 readPushBody() compares the checksum before it reads the JSON", async () => {
    await expect(readGzip("not json", EMPTY_SHA256)).rejects.toThrow(/^Checksum mismatch/);
    await expect(readGzip("[]", EMPTY_SHA256)).rejects.toThrow(/^Checksum mismatch/);
  });

  test.each(["", " ", "not json", "{", '{"records":[Infinity]}'])(
    "S-4.2.4 readPushBody() refuses %p, which is not JSON",
    async (body) => {
      await expect(readGzip(body)).rejects.toMatchObject({
        kind: "integrity",
        message: "Decompressed body is not valid JSON in UTF-8",
      });
    },
  );

  test("S-4.2.4 readPushBody() refuses bytes that are not UTF-8", async () => {
    const bytes = new Uint8Array([...bytesOf('{"records":["'), 0xff, ...bytesOf('"]}')]);
    await expect(readGzip(bytes)).rejects.toMatchObject({ kind: "integrity" });
  });
});

describe("readPushBody() of a large body", () => {
  /** A body of exactly this many bytes. */
  function bodyOf(bytes: number): Uint8Array {
    return bytesOf(`{"records":[]${" ".repeat(bytes - 14)}}`);
  }

  function readUpTo(maxDecompressedBytes: number, compressed: Uint8Array) {
    const deps = { ...DEPS, maxDecompressedBytes };
    return readPushBody(deps, { bytes: compressed, isGzip: true, checksum: null });
  }

  test.each([100, MIB, 3 * MIB])(
    "D-3.5.7 readPushBody() inflates to %d bytes and not to one more",
    async (limitBytes) => {
      expect(await readUpTo(limitBytes, gzipSync(bodyOf(limitBytes)))).toEqual(NO_RECORDS);
      await expect(readUpTo(limitBytes, gzipSync(bodyOf(limitBytes + 1)))).rejects.toMatchObject({
        kind: "body_too_large",
        text: `Body is larger than ${limitBytes} bytes after decompression; send fewer records at a time`,
      });
    },
  );

  test("D-3.5.7 readPushBody() counts the bytes of all members", async () => {
    const member = gzipSync(" ".repeat(MIB));
    const bomb = Buffer.concat(Array.from({ length: 40 }, () => member));
    await expect(readUpTo(32 * MIB, bomb)).rejects.toMatchObject({ kind: "body_too_large" });
  });

  test("D-3.5.7 readPushBody() stops a bomb without keeping what it inflates to", async () => {
    const bomb = gzipSync(new Uint8Array(256 * MIB));
    await expect(readUpTo(32 * MIB, bomb)).rejects.toMatchObject({ kind: "body_too_large" });
  });
});
