import { type JsonObject, parseJson } from "../../../domain/shared/json.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type {
  DroppedRecord,
  NewRejection,
  RejectedQuery,
  RejectedRecord,
  RejectedRecords,
} from "../../../ports/runs/rejected-records.ts";
import type { CommitExtras } from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";

/** Numbers are counted apart from the entries, so that the number of a removed entry is not used again. */
export const REJECTED_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_rejected (
    number INTEGER PRIMARY KEY, table_name TEXT NOT NULL, direction TEXT NOT NULL,
    key_id TEXT NOT NULL, details TEXT NOT NULL, attempts INTEGER NOT NULL,
    first_at_ms INTEGER NOT NULL, last_at_ms INTEGER NOT NULL
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS repsync_rejected_keys
    ON repsync_rejected (table_name, direction, key_id)`,
  "CREATE INDEX IF NOT EXISTS repsync_rejected_tables ON repsync_rejected (table_name, number)",
  `CREATE INDEX IF NOT EXISTS repsync_rejected_directions
    ON repsync_rejected (table_name, direction, number)`,
  `CREATE TABLE IF NOT EXISTS repsync_counters (
    name TEXT PRIMARY KEY, last INTEGER NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS repsync_dropped (
    table_name TEXT NOT NULL, direction TEXT NOT NULL, key_id TEXT NOT NULL,
    key TEXT NOT NULL, fingerprint TEXT NOT NULL, PRIMARY KEY (table_name, direction, key_id)
  ) WITHOUT ROWID`,
];

/** Digits of an id: with leading zeros, ids sort as their numbers do. */
const ID_DIGITS = 16;

const IS_ENTRY = "table_name = ? AND direction = ? AND key_id = ?";

const NOTE_AGAIN =
  "UPDATE repsync_rejected SET details = ?, last_at_ms = ?, attempts = attempts + 1" +
  ` WHERE ${IS_ENTRY}`;

const NEXT_NUMBER =
  "INSERT INTO repsync_counters (name, last) VALUES ('rejected', 1)" +
  " ON CONFLICT (name) DO UPDATE SET last = last + 1 RETURNING last";

const NOTE =
  "INSERT INTO repsync_rejected" +
  " (number, table_name, direction, key_id, details, attempts, first_at_ms, last_at_ms)" +
  " VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6)";

/** The entries of a key whose part is null: the id of each begins with that of the key. */
const IS_OF_NULL_KEY = "table_name = ?1 AND direction = ?2 AND substr(key_id, 1, length(?3)) = ?3";

const CLEARED = ["repsync_rejected", "repsync_dropped"];

const FIND = "SELECT * FROM repsync_rejected WHERE number = ?";

const REMOVE = "DELETE FROM repsync_rejected WHERE number = ?";

const DROP =
  "INSERT OR REPLACE INTO repsync_dropped (table_name, direction, key_id, key, fingerprint)" +
  " VALUES (?, ?, ?, ?, ?)";

const IS_DROPPED = `SELECT 1 FROM repsync_dropped WHERE ${IS_ENTRY} AND fingerprint = ?`;

const FORGET_DROP = `DELETE FROM repsync_dropped WHERE ${IS_ENTRY}`;

const DROPPED =
  "SELECT key, fingerprint FROM repsync_dropped WHERE table_name = ? AND direction = ? ORDER BY key_id";

const COUNT =
  "SELECT table_name AS tableName, count(*) AS n FROM repsync_rejected" +
  " WHERE ?1 IS NULL OR direction = ?1 GROUP BY table_name";

const NAMES_PERSON = (table: string, column: string) =>
  `DELETE FROM ${table} WHERE table_name = ?1 AND ${column}`;
const FORGET_PERSON = [
  NAMES_PERSON(
    "repsync_rejected",
    "?2 IN (details ->> '$.key.username', details ->> '$.record.username')",
  ),
  NAMES_PERSON("repsync_dropped", "key ->> '$.username' = ?2"),
];

type AcceptedRecords = NonNullable<CommitExtras["accepted"]>;

type Details = Pick<RejectedRecord, "key" | "record" | "message" | "fingerprint">;

export class SqliteRejectedRecords implements RejectedRecords {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async list(query: RejectedQuery): Promise<readonly RejectedRecord[]> {
    const { table, direction, beforeId, limit } = query;
    const conditions = [
      ...(table === null ? [] : [{ sql: "table_name = ?", value: table }]),
      ...(direction === null ? [] : [{ sql: "direction = ?", value: direction }]),
      ...(beforeId === null ? [] : [{ sql: "number < ?", value: numberOf(beforeId) }]),
    ];
    const where = conditions.map(({ sql }) => sql).join(" AND ") || "true";
    const sql = `SELECT * FROM repsync_rejected WHERE ${where} ORDER BY number DESC LIMIT ?`;
    const values = [...conditions.map(({ value }) => value), limit];
    const rows = await this.#database.read(() => this.#database.all(sql, values));
    return rows.map(readEntry);
  }

  async find(id: string): Promise<RejectedRecord | null> {
    const [row] = await this.#database.read(() => this.#database.all(FIND, [numberOf(id)]));
    return row === undefined ? null : readEntry(row);
  }

  async remove(id: string): Promise<boolean> {
    const database = this.#database;
    return database.keep(() => {
      const [row] = database.all(FIND, [numberOf(id)]);
      if (row === undefined) return false;
      const { table, direction, key, fingerprint } = readEntry(row);
      const entry = [table, direction, String(row["key_id"])];
      database.run(DROP, [...entry, JSON.stringify(key), fingerprint]);
      return database.run(REMOVE, [numberOf(id)]) > 0;
    });
  }

  async dropped(table: string, direction: SyncDirection): Promise<readonly DroppedRecord[]> {
    const rows = await this.#database.read(() => this.#database.all(DROPPED, [table, direction]));
    return rows.map((row) => ({
      key: parseJson(String(row["key"])) as JsonObject,
      fingerprint: String(row["fingerprint"]),
    }));
  }

  async countByTable(direction?: SyncDirection): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.read(() => this.#database.all(COUNT, [direction ?? null]));
    return new Map(rows.map((row) => [String(row["tableName"]), Number(row["n"])]));
  }
}

/** Notes refused records as `CommitExtras` says, within the caller's transaction. */
export function noteRejections(
  database: SqliteDatabase,
  rejections: readonly NewRejection[],
): void {
  for (const rejection of rejections) noteRejection(database, rejection);
}

function noteRejection(database: SqliteDatabase, rejection: NewRejection): void {
  const { table, direction, key, record, message, fingerprint, lastAtMs } = rejection;
  const entry = [table, direction, entryId(rejection)];
  if (database.all(IS_DROPPED, [...entry, fingerprint]).length > 0) return;
  database.run(FORGET_DROP, entry);
  const details = JSON.stringify({ key, record, message, fingerprint } satisfies Details);
  if (database.run(NOTE_AGAIN, [details, lastAtMs, ...entry]) > 0) return;
  const [counter] = database.all(NEXT_NUMBER);
  database.run(NOTE, [Number(counter?.["last"]), ...entry, details, lastAtMs]);
}

/** Drops the entries of accepted records as `CommitExtras` says, within the caller's transaction. */
export function clearRejections(
  database: SqliteDatabase,
  { table, direction, keys }: AcceptedRecords,
): void {
  for (const key of keys) {
    const isOfKey = hasNull(key) ? IS_OF_NULL_KEY : IS_ENTRY;
    for (const name of CLEARED) {
      database.run(`DELETE FROM ${name} WHERE ${isOfKey}`, [table, direction, keyId(key)]);
    }
  }
}

/** Identifies a key. Keys with the same columns and values give the same text, in any order. */
function keyId(key: JsonObject): string {
  return JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Identifies an entry: by its key, or by its key and content where the key is no key, as a part of it is null. */
export function entryId({ key, fingerprint }: DroppedRecord): string {
  return hasNull(key) ? keyId(key) + fingerprint : keyId(key);
}

function hasNull(key: JsonObject): boolean {
  return Object.values(key).includes(null);
}

/** The number of an entry; 0, which no entry has, when the text is not an id. */
function numberOf(id: string): number {
  return /^\d+$/.test(id) && id.length === ID_DIGITS ? Number(id) : 0;
}

function readEntry(row: SqliteRow): RejectedRecord {
  const {
    key,
    record,
    message,
    fingerprint = "",
  } = parseJson(String(row["details"])) as unknown as Details;
  return {
    id: String(row["number"]).padStart(ID_DIGITS, "0"),
    table: String(row["table_name"]),
    direction: row["direction"] as SyncDirection,
    key,
    record,
    message,
    fingerprint,
    attempts: Number(row["attempts"]),
    firstAtMs: Number(row["first_at_ms"]),
    lastAtMs: Number(row["last_at_ms"]),
  };
}

/** Removes what waits of rows of a person, and what was dropped, within the caller's write. D-8.2. */
export function forgetRejections(
  database: SqliteDatabase,
  tables: readonly string[],
  username: string,
): void {
  for (const table of tables) {
    for (const sql of FORGET_PERSON) database.run(sql, [table, username]);
  }
}
