// Versions of what lookups read, by person. Triggers raise them in the commit of a change, by any program. A person has one of 4,096
// slots, by a hash of the username: the numbers outlive an erasure, and the name does not.
import type { SqliteDatabase } from "./database.ts";
import type { SqliteBody } from "./run-body.ts";
import { ofColumns, quotedName, uniqueKeys } from "./schema.ts";

const SLOTS = 4_096;
/** Characters that the hash takes from the beginning of a username. */
const FIRST_CHARS = 14;
/** Characters that the hash takes from the end, the last one first. */
const LAST_CHARS = 4;
const LENGTH_FACTOR = 40_503;
const FACTORS = powersOf(75, 65_537, FIRST_CHARS + LAST_CHARS);
/** The low bits of the sum are mixed least. */
const DROPPED_BITS = 4;

const CREATE = `CREATE TABLE IF NOT EXISTS repsync_versions (
  slot INTEGER PRIMARY KEY, version INTEGER NOT NULL
)`;
const FILL = `INSERT INTO repsync_versions (slot, version)
  WITH RECURSIVE slots (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slots WHERE slot + 1 < ${SLOTS})
  SELECT slot, 0 FROM slots WHERE true ON CONFLICT DO NOTHING`;
const COUNT = "SELECT count(*) AS slots FROM repsync_versions";
const RAISE_ALL = "UPDATE repsync_versions SET version = version + 1";
const RAISE = `${RAISE_ALL} WHERE slot IN (SELECT value FROM json_each(?))`;
const READ = `SELECT version FROM json_each(?) AS wanted
  LEFT JOIN repsync_versions ON slot = wanted.value ORDER BY wanted.key`;
const TRIGGERS = `SELECT name, sql FROM sqlite_schema
  WHERE type = 'trigger' AND substr(name, 1, 15) = 'repsync_change_' AND tbl_name = ?`;
const HAS_USERNAME = "SELECT 1 FROM pragma_table_info(?) WHERE name = 'username'";

/** Makes slots and triggers within a write. A missing or different trigger may have missed changes, so all versions are raised. */
export function prepareVersions(database: SqliteDatabase, tables: readonly string[]): void {
  makeVersions(database);
  const wanted = new Map(tables.flatMap((table) => [...triggersOf(database, table)]));
  const present = tables.flatMap((table) => database.all(TRIGGERS, [table]));
  const found = new Map(present.map(({ name, sql }) => [String(name), String(sql)] as const));
  const missing = [...wanted].filter(([name, sql]) => found.get(name) !== sql);
  for (const [name, sql] of found) {
    if (wanted.get(name) !== sql) database.run(`DROP TRIGGER ${quotedName(name)}`);
  }
  for (const [, sql] of missing) database.run(sql);
  if (missing.length > 0) database.run(RAISE_ALL);
}

/** Within a write. */
export function makeVersions(database: SqliteDatabase): void {
  database.run(CREATE);
  if (Number(database.all(COUNT)[0]?.["slots"]) < SLOTS) database.run(FILL);
}

/** Within a write. */
export function raiseVersions(
  database: Pick<SqliteBody, "run">,
  names: readonly string[] | "everybody",
): void {
  if (names === "everybody") database.run(RAISE_ALL);
  else database.run(RAISE, [JSON.stringify(names.map(versionSlotOf))]);
}

/** Within a read or a write. */
export function readVersions(
  database: Pick<SqliteBody, "all">,
  names: readonly string[],
): readonly number[] {
  const rows = database.all(READ, [JSON.stringify(names.map(versionSlotOf))]);
  return rows.map(({ version }) => (version === null ? Number.NaN : Number(version)));
}

/** The slot of a person's changes; the triggers compute it in SQL. */
export function versionSlotOf(username: string): number {
  // SQLite's functions stop at a NUL.
  const text = username.toWellFormed().split("\0", 1)[0] ?? "";
  const chars = [...text];
  let sum = chars.length * LENGTH_FACTOR;
  // Its iterator would make a kilobyte of pairs.
  for (let i = 0; i < FACTORS.length; i++) {
    const char = chars.at(i < FIRST_CHARS ? i : FIRST_CHARS - 1 - i);
    sum += (char?.codePointAt(0) ?? 0) * (FACTORS[i] ?? 0);
  }
  return Math.floor(sum / 2 ** DROPPED_BITS) % SLOTS;
}

/** The first powers of `base` modulo `prime`. */
function powersOf(base: number, prime: number, count: number): readonly number[] {
  const powers: number[] = [];
  for (let power = base; powers.length < count; power = (power * base) % prime) powers.push(power);
  return powers;
}

/** `versionSlotOf` as SQL; null for null. */
function slotSql(username: string): string {
  const code = (place: string) => `ifnull(unicode(substr(${username}, ${place})), 0)`;
  const terms = [`length(${username}) * ${LENGTH_FACTOR}`];
  for (let i = 0; i < FIRST_CHARS; i++) terms.push(`${code(`${i + 1}`)} * ${FACTORS[i]}`);
  for (let i = 0; i < LAST_CHARS; i++)
    terms.push(`${code(`${-1 - i}, 1`)} * ${FACTORS[FIRST_CHARS + i]}`);
  return `((${terms.join(" + ")}) >> ${DROPPED_BITS}) % ${SLOTS}`;
}

/** The triggers by name; none for a table without `username`. */
function triggersOf(database: SqliteDatabase, table: string): ReadonlyMap<string, string> {
  const triggers = new Map<string, string>();
  if (database.all(HAS_USERNAME, [table]).length === 0) return triggers;
  const add = (name: string, event: string, body: string, condition = "") => {
    const full = `repsync_change_${table}_${name}`;
    const sql = `CREATE TRIGGER ${quotedName(full)} ${event} ON ${quotedName(table)} ${condition} BEGIN ${body}; END`;
    triggers.set(full, sql);
  };
  const raise = (condition: string) =>
    `UPDATE repsync_versions SET version = version + 1 WHERE ${condition}`;
  const raiseNew = raise(`slot = ${slotSql("NEW.username")}`);
  const raiseOld = raise(`slot = ${slotSql("OLD.username")}`);
  add("insert", "AFTER INSERT", raiseNew);
  add("update", "AFTER UPDATE", raiseNew);
  add("rename", "AFTER UPDATE OF username", raiseOld);
  add("delete", "AFTER DELETE", raiseOld);
  // REPLACE by a unique key without `username` can remove another person's row, and fires no DELETE triggers.
  for (const { columns, isTaken, ofRows, updated } of uniqueKeys(database, table)) {
    if (columns.includes("username")) continue;
    const taken = `FROM ${quotedName(table)} AS taken WHERE ${isTaken}`;
    const body = raise(`slot IN (SELECT ${slotSql("taken.username")} ${taken})`);
    const condition = `WHEN EXISTS (SELECT 1 ${taken})`;
    // Two keys of the same columns may be of different rows.
    const name = `${columns.join("_")}${ofRows}`;
    add(`insert_${name}`, "BEFORE INSERT", body, condition);
    add(`update_${name}`, `BEFORE UPDATE ${ofColumns([updated])}`, body);
  }
  return triggers;
}
