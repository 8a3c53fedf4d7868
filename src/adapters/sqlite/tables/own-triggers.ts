// The triggers that repsync makes on a table: `repsync_<use>.<name>.<table>`.
import type { SqliteDatabase } from "../driver/database.ts";
import { quotedName } from "../driver/sql.ts";

type TriggerUse = "delete" | "stamp";

const FIND = `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'
  AND substr(name, 1, length(?1)) = ?1 AND substr(name, -length(?2)) = ?2`;

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
    const rows = this.#database.all(FIND, values);
    return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]));
  }
}

export function triggerName(tableName: string, use: TriggerUse, name: string): string {
  return `repsync_${use}.${name}.${tableName}`;
}

/** Drops all own triggers, as SQLite drops no column that a trigger names. */
export function dropOwnTriggers(database: SqliteDatabase, tableName: string): void {
  for (const use of ["delete", "stamp"] as const) new OwnTriggers(database, tableName, use).drop();
}
