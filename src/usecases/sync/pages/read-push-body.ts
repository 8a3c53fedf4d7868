import { AppError } from "../../../domain/shared/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "../../../domain/shared/json.ts";
import { CHECKSUM_PREFIX_CHARS } from "../../../domain/shared/limits.ts";
import type { Integrity } from "../../../domain/sync/rows/push-result.ts";
import type { Digest, Gzip, SecretComparison } from "../../../ports/crypto/crypto.ts";

export interface ReadPushBodyDeps {
  readonly gzip: Gzip;
  readonly digest: Digest;
  readonly comparison: SecretComparison;
  /** `SYNC_MAX_DECOMPRESSED_BYTES`. */
  readonly maxDecompressedBytes: number;
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
  readonly syncTimestamp: string | null;
  /** `verified` whenever a checksum was sent, as S-2.4 says, though only gzip bodies are compared with it. */
  readonly integrity: Integrity;
}

/**
 * Decompresses, verifies and parses a push body. S-4.2.2 to S-4.2.6, D-3.5.
 * Throws `integrity`, `body_too_large`, and `invalid_request` for JSON that is not what S-2.3 describes.
 */
export async function readPushBody(
  deps: ReadPushBodyDeps,
  received: ReceivedPushBody,
): Promise<PushBody> {
  const body = received.isGzip ? await readGzipBody(deps, received) : readPlainBody(received.bytes);
  const records = body.records ?? [];
  if (!Array.isArray(records)) {
    throw new AppError("invalid_request", "records must be an array of objects");
  }
  return {
    records,
    syncTimestamp: typeof body.sync_timestamp === "string" ? body.sync_timestamp : null,
    integrity: received.checksum === null ? "no_checksum" : "verified",
  };
}

async function readGzipBody(
  deps: ReadPushBodyDeps,
  { bytes, checksum }: ReceivedPushBody,
): Promise<JsonObject> {
  const inflated = await deps.gzip.decompress(bytes, deps.maxDecompressedBytes);
  if (checksum !== null) await verifyChecksum(deps, inflated, checksum);
  const parsed = tryParse(inflated);
  if (parsed === undefined) {
    throw new AppError("integrity", "Decompressed body is not valid JSON in UTF-8");
  }
  return asBody(parsed);
}

/** A plain body that is not JSON counts as an empty object; its checksum is not verified. S-4.2.5. */
function readPlainBody(bytes: Uint8Array): JsonObject {
  const parsed = tryParse(bytes);
  return parsed === undefined ? {} : asBody(parsed);
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

/** Undefined when the bytes are not UTF-8 or not JSON. Throws `invalid_request` for JSON too deep to parse. */
function tryParse(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    throw new AppError("invalid_request", "The body is nested too deeply", { cause: error });
  }
}
