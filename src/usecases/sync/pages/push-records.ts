// A push: its body is read and verified, and its records are written in one commit. S-4.2.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/shared/json.ts";
import { JsonLimitError } from "../../../domain/shared/json-reader.ts";
import { CHECKSUM_PREFIX_CHARS, MAX_JSON_VALUES } from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/shared/text.ts";
import { ERASED_MESSAGE } from "../../../domain/sync/people/name-facts.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import {
  commitFailedResult,
  type Integrity,
  noRecordsResult,
  type PushResult,
  pushedResult,
  type RecordFailure,
} from "../../../domain/sync/rows/push-result.ts";
import { aheadLimit, STAMP_NOW } from "../../../domain/sync/rows/row-time.ts";
import { convertTombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { ConflictRule, Table } from "../../../domain/sync/table/table.ts";
import type { Digest, Gzip, SecretComparison } from "../../../ports/crypto/crypto.ts";
import type { Clock, CollectGarbage, Logger, Timer } from "../../../ports/runtime/runtime.ts";
import { readJson, Turns } from "../../../ports/runtime/turns.ts";
import type { TombstoneWrite } from "../../../ports/tables/table-writes.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { planWrites, type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";
import { countRemovable } from "./delete-rows.ts";

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
  /** Tombstones as sent; empty when missing or null. D-7.6. */
  readonly deleted: readonly JsonValue[];
  /** What becomes of rows that are newer here; null: what the table says. D-7.2, D-11.10. */
  readonly conflict: ConflictRule | null;
  /** For the log only. D-3.7. */
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
    conflict: readConflict(body["conflict"] ?? null),
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

function readConflict(value: JsonValue): ConflictRule | null {
  if (value === null || value === "newer" || value === "overwrite") return value;
  throw new AppError("invalid_request", 'conflict must be "newer", "overwrite" or null');
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

/** Longer than any time; a longer text is cut in the log. */
const MAX_LOGGED_TIMESTAMP_CHARS = 100;

type PushRecordsDeps = WriteRowsDeps & Pick<SyncDeps, "traffic" | "clock" | "timer" | "logger">;

interface PushInput extends Omit<PushBody, "deleted" | "conflict"> {
  readonly table: Table;
  /** Applied before the records, and only in a table with `deletes`. D-7.6. */
  readonly deleted?: PushBody["deleted"];
  /** Absent: null. */
  readonly conflict?: PushBody["conflict"];
  /** The run that sends the push, whose records bring times; null or absent: none. D-14.2. */
  readonly runId?: string | null;
}

/**
 * Upserts the records of one push in one commit. A failing record stops no other. S-4.2.6 to S-4.2.12. Never throws for the
 * contents of records; a failed commit is a result. Throws `batch_too_large`.
 */
export async function pushRecords(deps: PushRecordsDeps, input: PushInput) {
  const { table, records, deleted = [] } = input;
  const isEmpty = records.length === 0 && deleted.length === 0;
  try {
    const result = isEmpty ? noRecordsResult(table) : await writeRecords(deps, input);
    logPush(deps.logger, input, result);
    return { isCommitted: true, result };
  } catch (error) {
    if (!isAppError(error, "commit_failed", "store_unavailable")) throw error;
    deps.logger.error("Push failed", error, {
      table: table.name,
      received: records.length,
      sync_timestamp: cutText(input.syncTimestamp ?? "", MAX_LOGGED_TIMESTAMP_CHARS) || null,
    });
    return { isCommitted: false, result: commitFailedResult(table, error.message) };
  }
}

async function writeRecords(deps: PushRecordsDeps, input: PushInput): Promise<PushResult> {
  const { table, records, deleted = [], conflict = null, integrity } = input;
  const isGuarded = conflict === "newer";
  const isStamped = table.stamped && conflict === null && !input.runId;
  const convert = (record: JsonValue) => convertRecord(table, record, isStamped);
  const { writes, failures } = await planWrites(deps, records, convert);
  const deletes = planDeletes(table, deleted, deps.clock.nowMs());
  const rules = {
    ...(conflict === null ? {} : ({ conflict: isGuarded ? "newer" : "restore" } as const)),
    ...(isStamped ? { stamps: STAMP_NOW } : {}),
  };
  const rows = { writes, deleted: deletes.tombstones, ...rules };
  const written = await writeRows(deps, table, rows);
  const { kept, changed, erased } = written;
  deps.traffic?.addRows(changed + written.deleted);
  const leftOut = erased.length === 0 ? {} : { erased: erased.length };
  const told = isGuarded ? { kept: kept.length, changed, ...leftOut } : { changed };
  return pushedResult(table, {
    records,
    failures: [
      ...failures,
      ...written.failures,
      ...(isGuarded ? [] : erased.map((index) => ({ index, message: ERASED_MESSAGE }))),
    ],
    integrity,
    ...(conflict === null ? {} : { told }),
    deletes:
      deleted.length === 0
        ? null
        : {
            members: deleted,
            failures: [...deletes.failures, ...(written.refusedDeletes ?? [])],
            removed: written.deleted,
          },
  });
}

function logPush(logger: Logger, input: PushInput, result: PushResult): void {
  const { kept, changed, erased, deleted } = result;
  logger.info("Push committed", {
    table: result.table,
    received: input.records.length,
    upserted: result.upserted,
    error_count: result.errorCount,
    ...(kept === undefined ? {} : { kept, changed }),
    ...(erased === undefined ? {} : { erased }),
    ...(deleted === undefined ? {} : { deleted }),
    integrity: input.integrity,
    sync_timestamp: cutText(input.syncTimestamp ?? "", MAX_LOGGED_TIMESTAMP_CHARS) || null,
  });
}

/** The members of a push's `deleted` that take effect, and those that fail. A table without `deletes` removes nothing. D-7.6. */
function planDeletes(table: Table, members: readonly JsonValue[], nowMs: number) {
  const tombstones: TombstoneWrite[] = [];
  const failures: RecordFailure[] = [];
  const limit = aheadLimit(nowMs);
  for (const [index, member] of members.entries()) {
    const { tombstone, problem } = convertTombstone(table, member, limit);
    if (tombstone === null) failures.push({ index, message: problem });
    else if (table.deletes) tombstones.push({ index, ...tombstone });
  }
  return { tombstones, failures };
}

/** Counts the rows that the tombstones of a push would remove, and writes nothing. Throws `store_unavailable`. D-7.6. */
export async function countDeletes(
  { tables, clock }: Pick<SyncDeps, "tables" | "clock">,
  { table, deleted = [], integrity }: Pick<PushInput, "table" | "deleted" | "integrity">,
): Promise<PushResult> {
  const nowMs = clock.nowMs();
  const { tombstones, failures } = planDeletes(table, deleted, nowMs);
  const removed = await countRemovable(tables, table, tombstones, nowMs);
  return pushedResult(table, {
    records: [],
    failures: [],
    integrity,
    deletes: { members: deleted, failures, removed },
  });
}
