import { expect, test } from "bun:test";
import * as limits from "../../../src/domain/shared/limits.ts";

test("S-8.1, S-4.1.4 bodies under 1024 bytes are not compressed", () => {
  expect(limits.COMPRESSION_THRESHOLD_BYTES).toBe(1024);
});

test("S-8.2, S-4.1.5 the gzip level is 6", () => {
  expect(limits.GZIP_LEVEL).toBe(6);
});

test("S-8.3 the default page size of a pull is 1000", () => {
  expect(limits.DEFAULT_PAGE_ROWS).toBe(1000);
});

test("S-8.4, D-1.3.5 the maximum page size of a pull is 5000 unless configured", () => {
  expect(limits.DEFAULT_MAX_PAGE_ROWS).toBe(5000);
});

test("S-8.5 a push lists at most 10 errors, each message cut to 100 characters", () => {
  expect(limits.MAX_PUSH_ERRORS).toBe(10);
  expect(limits.MAX_RECORD_MESSAGE_CHARS).toBe(100);
});

test("S-8.6 the text of a commit failure is cut to 200 characters", () => {
  expect(limits.MAX_COMMIT_ERROR_CHARS).toBe(200);
});

test("S-4.2.3 a checksum mismatch names the first 16 characters of each hash", () => {
  expect(limits.CHECKSUM_PREFIX_CHARS).toBe(16);
});

test("D-1.3.8 push bodies are limited to 32 MiB as sent and 256 MiB after decompression", () => {
  expect(limits.DEFAULT_MAX_BODY_BYTES).toBe(33_554_432);
  expect(limits.DEFAULT_MAX_DECOMPRESSED_BYTES).toBe(268_435_456);
  expect(limits.DEFAULT_MAX_PUSH_RECORDS).toBe(100_000);
  expect(limits.MAX_JSON_VALUES).toBe(2_000_000);
});

test("D-1.3.9 the late-commit allowance of incremental runs is 60 seconds", () => {
  expect(limits.DEFAULT_LAG_SECONDS).toBe(60);
});

test("D-1.3.17 audit records are kept for 400 days", () => {
  expect(limits.DEFAULT_AUDIT_RETENTION_DAYS).toBe(400);
});

test("D-2.2.8, D-3.3.13 integers reach to 2^63 - 1", () => {
  expect(limits.MAX_INT64).toBe(9_223_372_036_854_775_807n);
});

test("D-6.8 a health check waits less than a second for the store", () => {
  expect(limits.HEALTH_PROBE_MS).toBeLessThan(1000);
});
