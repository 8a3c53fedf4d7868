import { AppError } from "../../../domain/shared/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/shared/json.ts";
import { JsonLimitError } from "../../../domain/shared/json-reader.ts";
import { CHECKSUM_PREFIX_CHARS, MAX_JSON_VALUES } from "../../../domain/shared/limits.ts";
import type { Integrity } from "../../../domain/sync/rows/push-result.ts";
import type { Digest, Gzip, SecretComparison } from "../../../ports/crypto/crypto.ts";
import type { Clock, CollectGarbage, Timer } from "../../../ports/runtime/runtime.ts";
import { readJson, Turns } from "../../../ports/runtime/turns.ts";

/** Above this, garbage is collected before the body is copied for its hash, and before its rows are written. D-11.2.2. */
const LARGE_BYTES = 32 * 1024 * 1024;

export interface ReadPushBodyDeps {
  readonly gzip: Gzip;
  readonly digest: Digest;
  readonly comparison: SecretComparison;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly collectGarbage: CollectGarbage;
  /** `SYNC_MAX_DECOMPRESSED_BYTES`. */
  readonly maxDecompressedBytes: number;
  /** `SYNC_MAX_PUSH_RECORDS`. */
  readonly maxPushRecords: number;
}

interface ReceivedPushBody {
  readonly bytes: Uint8Array;
  /** True when `Content-Encoding` contains `gzip`. */
  readonly isGzip: boolean;
  /** `X-Content-SHA256`; null when absent or empty. */
  readonly checksum: string | null;
}

/** The fields of a push body. S-2.3. */
interface PushBody {
  /** Empty when missing or null. */
  readonly records: readonly JsonValue[];
  /** Empty when missing or null. D-7.6. */
  readonly deleted: readonly JsonValue[];
  readonly syncTimestamp: string | null;
  /** `verified` whenever a checksum was sent, though only gzip bodies are compared with it. S-2.4. */
  readonly integrity: Integrity;
}

/**
 * Decompresses, verifies and parses a push body. S-4.2.2 to S-4.2.6, D-3.5. Throws `integrity`, `body_too_large`, and
 * `invalid_request` for JSON other than that of S-2.3.
 */
export async function readPushBody(
  deps: ReadPushBodyDeps,
  received: ReceivedPushBody,
): Promise<PushBody> {
  const { body, lengthBytes } = await (received.isGzip
    ? readGzipBody(deps, received)
    : readPlainBody(deps, received.bytes));
  await freeMemory(deps, lengthBytes);
  return {
    records: readList(body["records"], "records must be an array of objects"),
    deleted: readList(body["deleted"], "deleted must be an array of {key, deleted_at}"),
    syncTimestamp: typeof body.sync_timestamp === "string" ? body.sync_timestamp : null,
    integrity: received.checksum === null ? "no_checksum" : "verified",
  };
}

async function freeMemory({ timer, collectGarbage }: ReadPushBodyDeps, lengthBytes: number) {
  if (lengthBytes <= LARGE_BYTES) return;
  // Values on the stack of this turn cannot be collected.
  await timer.sleep(0);
  collectGarbage();
}

function readList(value: JsonValue | undefined, problem: string): readonly JsonValue[] {
  const list = value ?? [];
  if (!Array.isArray(list)) throw new AppError("invalid_request", problem);
  return list;
}

interface ReadBody {
  readonly body: JsonObject;
  /** After decompression. */
  readonly lengthBytes: number;
}

async function readGzipBody(
  deps: ReadPushBodyDeps,
  { bytes, checksum }: ReceivedPushBody,
): Promise<ReadBody> {
  const inflated = await deps.gzip.decompress(bytes, deps.maxDecompressedBytes);
  const parsed = await tryParse(deps, inflated);
  await freeMemory(deps, inflated.length);
  if (checksum !== null) await verifyChecksum(deps, inflated, checksum);
  if (parsed === undefined) {
    throw new AppError("integrity", "Decompressed body is not valid JSON in UTF-8");
  }
  return { body: asBody(parsed), lengthBytes: inflated.length };
}

/** A plain body that is not JSON counts as an empty object; its checksum is not verified. S-4.2.5. */
async function readPlainBody(deps: ReadPushBodyDeps, bytes: Uint8Array): Promise<ReadBody> {
  const parsed = await tryParse(deps, bytes);
  return { body: parsed === undefined ? {} : asBody(parsed), lengthBytes: bytes.length };
}

function asBody(parsed: JsonValue): JsonObject {
  if (parsed === null) return {};
  if (isJsonObject(parsed)) return parsed;
  throw new AppError("invalid_request", "The body must be a JSON object with a records array");
}

async function verifyChecksum(
  deps: ReadPushBodyDeps,
  bytes: Uint8Array<ArrayBuffer>,
  expected: string,
): Promise<void> {
  const actual = await deps.digest.sha256Hex(bytes);
  const encoder = new TextEncoder();
  if (deps.comparison.isEqual(encoder.encode(actual), encoder.encode(expected.toLowerCase())))
    return;
  const named = [expected, actual].map((hash) => hash.slice(0, CHECKSUM_PREFIX_CHARS));
  throw new AppError("integrity", `Checksum mismatch: expected ${named[0]}, got ${named[1]}`);
}

/**
 * Undefined when the bytes are not UTF-8 or not JSON. Throws `body_too_large` for more than a body may hold, and
 * `invalid_request` for JSON that cannot be parsed.
 */
async function tryParse(deps: ReadPushBodyDeps, bytes: Uint8Array): Promise<JsonValue | undefined> {
  const { clock, timer, maxPushRecords } = deps;
  const turns = new Turns(clock, () => timer.sleep(0));
  try {
    const limits = { maxValues: MAX_JSON_VALUES, maxRecords: maxPushRecords };
    return await readJson(bytes, turns, limits);
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    const isLimit = error instanceof JsonLimitError;
    const reason = isLimit ? error.message : "is nested too deeply";
    if (isLimit && error.isTooMuch) {
      throw new AppError("body_too_large", `The body ${reason}`, { hint: "Send fewer at a time" });
    }
    throw new AppError("invalid_request", `The body ${reason}`, { cause: error });
  }
}
