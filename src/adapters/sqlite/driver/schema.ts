// The schema of a file: names in statements, unique keys of tables, and the triggers that repsync makes on them.
import type { SqliteDatabase } from "./database.ts";
import type { SqliteWork } from "./run-body.ts";

/** Quotes a name, which may have any characters. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The same number twice means that no process has changed a schema in between. */
export function schemaVersion(work: SqliteWork): number {
  return Number(work.all("PRAGMA schema_version")[0]?.["schema_version"]);
}

/** The column of an INTEGER PRIMARY KEY, which has no index. */
const ROW_NUMBER =
  "SELECT name AS column FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'";
/** A null column stands for an expression. Without SQL for the indexes that a table's own text makes. */
const UNIQUE_COLUMNS = `SELECT i.name AS key, c.name AS column, nullif(c.coll, 'BINARY') AS collation,
    (SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = i.name) AS sql
  FROM pragma_index_list(?1) i, pragma_index_xinfo(i.name) c WHERE i."unique" AND c.key ORDER BY i.seq, c.seqno`;
/** Names of the row number, where no column has them. */
const ROW_NUMBERS = ["rowid", "oid", "_rowid_"];
const COLUMNS = "SELECT name, hidden IN (2, 3) AS is_generated FROM pragma_table_xinfo(?)";

export interface UniqueKey {
  /** Names, with collations other than by bytes, and expressions. */
  readonly columns: readonly string[];
  /** True where the row `NEW` of a trigger may be in the way of the row `taken`, the only one in its query. */
  readonly isTaken: string;
  /** The end of `isTaken` for a partial index, which is not used without it: each write would read the whole table. */
  readonly ofRows: string;
  /** Quoted columns: those of the key first, then others whose updates may put a row into it. Null for any, where one is generated. */
  readonly updated: readonly string[] | null;
}

export function uniqueKeys(database: SqliteDatabase, tableName: string): readonly UniqueKey[] {
  const keys = Map.groupBy(database.all(UNIQUE_COLUMNS, [tableName]), ({ key }) => key);
  const numbers = database.all(ROW_NUMBER, [tableName]).map((number) => [number]);
  const all = database.all(COLUMNS, [tableName]).map(({ name, is_generated }) => {
    return { name: String(name), isGenerated: is_generated === 1 };
  });
  const ofNew = all.map(({ name }) => `NEW.${quotedName(name)} AS ${quotedName(name)}`);
  const rowOfNew = `(SELECT ${ofNew.join(", ")})`;
  return [...keys.values(), ...numbers].map((found) => {
    const { parts, where } = indexText(String(found[0]?.["sql"] ?? ""), [
      ...all.map(({ name }) => name.toLowerCase()),
      ...ROW_NUMBERS,
    ]);
    const collations = found.map(({ collation = null }) =>
      collation === null ? "" : ` COLLATE ${collation}`,
    );
    const columns = found.map(({ column }, i) =>
      column === null ? String(parts[i]) : `${column}${collations[i]}`,
    );
    const isTaken = found.map(({ column }, i) => {
      if (column === null) return `(${parts[i]}) = (SELECT ${parts[i]} FROM ${rowOfNew})`;
      const name = quotedName(String(column));
      return `taken.${name} = NEW.${name}${collations[i]}`;
    });
    const ofRows = where === "" ? "" : ` AND (${where})`;
    const names = found.flatMap(({ column }) => (column === null ? [] : [String(column)]));
    // Of a text every column counts whose name is somewhere in it.
    const texts = [where, ...parts.filter((_part, i) => found[i]?.["column"] === null)];
    const text = texts
      .join(" ")
      .replaceAll(/(["`])\1/g, "$1")
      .toLowerCase();
    const others = all.filter(({ name }) => text.includes(name.toLowerCase()));
    const used = new Set([...names, ...others.map(({ name }) => name)]);
    const isGenerated = all.some((column) => column.isGenerated && used.has(column.name));
    const updated = isGenerated ? null : [...used].map(quotedName);
    return { columns, isTaken: `${isTaken.join(" AND ")}${ofRows}`, ofRows, updated };
  });
}

/** The clause of updates of the columns, in a trigger; none for any. */
export function ofColumns(lists: readonly UniqueKey["updated"][]): string {
  const columns = new Set(lists.flatMap((names) => names ?? []));
  return lists.includes(null) ? "" : `OF ${[...columns].join(", ")}`;
}

/** Texts, quoted names, comments, and single characters. */
const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|[\s\S]/g;

/**
 * What an index is on, and of which rows, as no pragma tells expressions. What is in double quotes and no column is a text, for which
 * many programs refuse such quotes in triggers.
 */
function indexText(
  sql: string,
  columns: readonly string[],
): { readonly parts: readonly string[]; readonly where: string } {
  const read = (token: string, isFunction: boolean) => {
    if (/^(?:--|\/\*)/.test(token)) return " ";
    if (isFunction || token[0] !== '"') return token;
    const name = token.slice(1, -1).replaceAll('""', '"');
    return columns.includes(name.toLowerCase()) ? token : `'${name.replaceAll("'", "''")}'`;
  };
  const parts = [""];
  let depth = 0;
  let isListed = false;
  let behind = "";
  for (const { 0: token, index } of sql.matchAll(TOKENS)) {
    const text = read(token, /^\s*\(/.test(sql.slice(index + token.length)));
    if (isListed) behind += text;
    else if (text === ")" && --depth === 0) isListed = true;
    else if (text === "," && depth === 1) parts.push("");
    else if (depth > 0) parts.push(`${parts.pop()}${text}`);
    if (text === "(") depth++;
  }
  return {
    parts: parts.map((part) => part.trim().replace(/\s+(?:asc|desc)$/i, "")),
    where: behind.replace(/^\s*where\b/i, "").trim(),
  };
}

type TriggerUse = "delete" | "stamp";

const FIND_TRIGGERS = `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'
  AND substr(name, 1, length(?1)) = ?1 AND substr(name, -length(?2)) = ?2`;

/** The triggers `repsync_<use>.<name>.<table>` of a table. */
export class OwnTriggers {
  readonly #database: SqliteDatabase;
  readonly #tableName: string;
  readonly #use: TriggerUse;

  constructor(database: SqliteDatabase, tableName: string, use: TriggerUse) {
    this.#database = database;
    this.#tableName = tableName;
    this.#use = use;
  }

  /** The trigger's name and SQL. */
  make(name: string, event: string, statements: readonly string[]): readonly [string, string] {
    const full = triggerName(this.#tableName, this.#use, name);
    const body = statements.map((sql) => `${sql};`).join(" ");
    return [full, `CREATE TRIGGER ${quotedName(full)} ${event} BEGIN ${body} END`];
  }

  /**
   * Makes exactly the wanted triggers of its use. False where those before lacked one, or had one with another text, beside `wanted`
   * and each of `earlier` alike.
   */
  set(
    wanted: ReadonlyMap<string, string>,
    earlier: readonly ReadonlyMap<string, string>[] = [],
  ): boolean {
    const found = this.#find();
    const hadAll = (triggers: ReadonlyMap<string, string>) =>
      [...triggers].every(([name, sql]) => found.get(name) === sql);
    const isSame = hadAll(wanted);
    if (isSame && found.size === wanted.size) return true;
    this.drop();
    for (const sql of wanted.values()) this.#database.run(sql);
    return isSame || earlier.some(hadAll);
  }

  drop(): void {
    for (const name of this.#find().keys()) this.#database.run(`DROP TRIGGER ${quotedName(name)}`);
  }

  #find(): ReadonlyMap<string, string> {
    const values = [`repsync_${this.#use}.`, `.${this.#tableName}`];
    const rows = this.#database.all(FIND_TRIGGERS, values);
    return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]));
  }
}

export function triggerName(tableName: string, use: TriggerUse, name: string): string {
  return `repsync_${use}.${name}.${tableName}`;
}
