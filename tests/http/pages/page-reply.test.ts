// How the reply of a page is written. S-4.1.3 to S-4.1.6, D-7.9.
import { expect, test } from "bun:test";
import { WebCryptoDigest } from "../../../src/adapters/webcrypto/web-crypto-digest.ts";
import { ZlibGzip } from "../../../src/adapters/zlib/zlib-gzip.ts";
import { pageBody } from "../../../src/http/replies.ts";
import { gunzip, sha256, textOf } from "../support/bytes.ts";

/** Writes a reply by a clock on which every slice takes a second; counts the turns that others have. */
async function reply(page: object) {
  let ms = 0;
  let turns = 0;
  const clock = { nowMs: () => 0, monotonicMs: () => (ms += 1_000) };
  const timer = {
    sleep: async () => {
      turns++;
    },
  };
  const deps = { clock, timer, gzip: new ZlibGzip(), digest: new WebCryptoDigest() };
  const response = await pageBody(deps, page);
  const headers = new Headers(response.headers);
  const isGzip = headers.get("content-encoding") === "gzip";
  const bytes = isGzip ? gunzip(response.bytes) : response.bytes;
  expect(headers.get("x-content-sha256")).toBe(sha256(bytes));
  return { text: textOf(bytes), turns };
}

test.each([0, 1, 16, 17, 3000])(
  "S-4.1.3, D-7.9 a page of %d records is one JSON text",
  async (count) => {
    const records = Array.from({ length: count }, (_, n) => ({ n, an_object: { key_of: [n] } }));
    const { text } = await reply({ table: "t", has_more: false, next_offset: null, records });
    expect(text).toBe(JSON.stringify({ table: "t", has_more: false, next_offset: null, records }));
  },
);

test("D-4.10 a page without records is written whole", async () => {
  const segments = [{ through: ["a_b", 1], count: 1, digest: "d" }];
  const { text } = await reply({ table: "t", segments, has_more: false });
  expect(text).toBe(JSON.stringify({ table: "t", segments, has_more: false }));
});

test("D-7.9 a page of 32 MiB is written in slices, with turns for others", async () => {
  const records = Array.from({ length: 160 }, (_, n) => ({ n, body: "é\\".repeat(50_000) }));
  const { text, turns } = await reply({ table: "t", records });
  expect(text).toBe(JSON.stringify({ table: "t", records }));
  expect(turns).toBeGreaterThan(12);
});
