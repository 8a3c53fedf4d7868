import { type JsonObject, parseJson } from "../../../domain/shared/json.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type {
  NewRejection,
  RejectedQuery,
  RejectedRecord,
  RejectedRecords,
} from "../../../ports/runs/rejected-records.ts";
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

const CLEAR = `DELETE FROM repsync_rejected WHERE ${IS_ENTRY}`;

const REMOVE = "DELETE FROM repsync_rejected WHERE number = ?";

const COUNT =
  "SELECT table_name AS tableName, count(*) AS n FROM repsync_rejected" +
  " WHERE ?1 IS NULL OR direction = ?1 GROUP BY table_name";

type Details = Pick<RejectedRecord, "key" | "record" | "message">;

export class SqliteRejectedRecords implements RejectedRecords {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async note(rejections: readonly NewRejection[]): Promise<void> {
    if (rejections.length === 0) return;
    await this.#database.keep(() => {
      for (const rejection of rejections) this.#note(rejection);
    });
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

  async clear(table: string, direction: SyncDirection, keys: readonly JsonObject[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#database.keep(() => {
      for (const key of keys) this.#database.run(CLEAR, [table, direction, keyId(key)]);
    });
  }

  async remove(id: string): Promise<boolean> {
    return this.#database.keep(() => this.#database.run(REMOVE, [numberOf(id)]) > 0);
  }

  async countByTable(direction?: SyncDirection): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.read(() => this.#database.all(COUNT, [direction ?? null]));
    return new Map(rows.map((row) => [String(row["tableName"]), Number(row["n"])]));
  }

  #note({ table, direction, key, record, message, lastAtMs }: NewRejection): void {
    const entry = [table, direction, keyId(key)] as const;
    const details = JSON.stringify({ key, record, message } satisfies Details);
    if (this.#database.run(NOTE_AGAIN, [details, lastAtMs, ...entry]) > 0) return;
    const [counter] = this.#database.all(NEXT_NUMBER);
    this.#database.run(NOTE, [Number(counter?.["last"]), ...entry, details, lastAtMs]);
  }
}

/** Identifies a key. Keys with the same columns and values give the same text, in any order. */
function keyId(key: JsonObject): string {
  return JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The number of an entry; 0, which no entry has, when the text is not an id. */
function numberOf(id: string): number {
  return /^\d+$/.test(id) && id.length === ID_DIGITS ? Number(id) : 0;
}

function readEntry(row: SqliteRow): RejectedRecord {
  const { key, record, message } = parseJson(String(row["details"])) as unknown as Details;
  return {
    id: String(row["number"]).padStart(ID_DIGITS, "0"),
    table: String(row["table_name"]),
    direction: row["direction"] as SyncDirection,
    key,
    record,
    message,
    attempts: Number(row["attempts"]),
    firstAtMs: Number(row["first_at_ms"]),
    lastAtMs: Number(row["last_at_ms"]),
  };
}
