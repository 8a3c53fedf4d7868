// Fills an empty database: a mark keeps every instance out until it is whole. D-10.7.
import { fieldOf } from "../../../domain/shared/json.ts";
import {
  checkFormat,
  STORE_FORMAT,
  storeHeld,
  storeNotEmpty,
} from "../../../domain/shared/store-format.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { EmptyStore, StoreClaim } from "../../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedStore,
  type DumpedTable,
  type DumpedTombstone,
  named,
  tableOf,
} from "../../../ports/copies/store-dump.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import { CollectionTable } from "../documents/collection-table.ts";
import { type OpenDatabase, openDatabase } from "../driver/open-database.ts";
import { MAKE_SCHEMA, OWN_TABLES, SCHEMA } from "../driver/schema.ts";
import { nameText, quoted, textList } from "../driver/sql.ts";
import { Holder, isHeld, readFacts, removeFact, setFact } from "../driver/store-facts.ts";
import { isThere, type ServerTransaction } from "../driver/transaction.ts";
import { held, refusalOf } from "../tables/columns.ts";
import { Layout } from "../tables/layout.ts";
import { RowStatements } from "../tables/row-statements.ts";
import { dumpDatabase, preparedTables } from "./database-dump.ts";

interface EmptyPostgresOptions extends StoreClaim {
  readonly url: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly collections: readonly AnyCollection[];
  /** Makes the tables in the database, as a start does. */
  readonly prepare: (tables: readonly Table[]) => Promise<void>;
}

interface Claimed extends OpenDatabase {
  readonly holder: Holder;
}

export class EmptyPostgres implements EmptyStore {
  readonly kind = "postgresql";
  readonly #options: EmptyPostgresOptions;
  readonly #claimed: Claimed;
  #tables: readonly Table[] = [];

  private constructor(options: EmptyPostgresOptions, claimed: Claimed) {
    this.#options = options;
    this.#claimed = claimed;
  }

  /** Throws `invalid_request` for a database that is not empty, or in use. */
  static async claim(options: EmptyPostgresOptions): Promise<EmptyPostgres> {
    const { database, schema } = await openDatabase(options);
    const holder = new Holder(database, { isFiller: true });
    try {
      if (!(await holder.begin())) throw storeHeld();
      await database.change("claim", (tx) => mark(tx, schema, options));
      return new EmptyPostgres(options, { database, schema, holder });
    } catch (error) {
      await holder.end();
      await database.close();
      throw error;
    }
  }

  refusals(table: Table, row: Row): readonly string[] {
    const unheld = table.columns.flatMap((column) => {
      const value = fieldOf(row, column.name);
      if (value === null && column.isKey) {
        return [`column "${column.name}" is of the key, and may not be null`];
      }
      return held(column, value) === undefined ? [refusalOf(column, value)] : [];
    });
    return hasRoom(table, row) ? unheld : [...unheld, LONG_KEY];
  }

  async begin({ tables }: DumpedStore): Promise<void> {
    this.#tables = tables.map(tableOf);
    await this.#options.prepare(this.#tables);
    await this.#claimed.database.change("fill.begin", async (tx) => {
      for (const table of tables) await setNumbers(tx, this.#layout(table.name), table);
    });
  }

  async write(part: DumpedPart): Promise<void> {
    const { name } = part;
    await this.#claimed.database.transact({ name: "fill.write" }, async (tx) => {
      if (part.of === "documents") {
        const from = named(this.#options.collections, name);
        const { text, parameters } = new CollectionTable(from).put(part.items);
        await tx.query(text, parameters);
      } else if (part.of === "tombstones") {
        await writeTombstones(tx, this.#layout(name), part.items);
      } else {
        const layout = this.#layout(name);
        const rows = part.items.map(({ row }) => row);
        const { columns } = layout.table;
        await new RowStatements(tx).insert(layout, rows, columns);
      }
    });
  }

  async dump(): Promise<Dump> {
    return await dumpDatabase(this.#claimed, this.#options.collections);
  }

  async finish(deploymentId: string): Promise<void> {
    const { database, holder } = this.#claimed;
    await database.change("fill.finish", async (tx) => {
      await setFact(tx, "deployment_id", deploymentId);
      await setFact(tx, "format", String(STORE_FORMAT));
      await removeFact(tx, "filled_by");
    });
    await holder.end();
    await database.close();
  }

  async giveUp(): Promise<void> {
    const { database, schema, holder } = this.#claimed;
    const emptied = database.change("fill.giveUp", async (tx) => {
      await empty(tx, schema);
      await tx.script(`drop table ${OWN_TABLES.map((name) => `${SCHEMA}.${name}`).join(", ")}`);
    });
    // On a failure the mark stays, as nobody may use the rest.
    await emptied.catch(() => {});
    await holder.end();
    await database.close();
  }

  #layout(name: string): Layout {
    return new Layout(named(this.#tables, name), this.#claimed.schema);
  }
}

/** An index of the server has room for texts of so many bytes, beside numbers and a time. */
const MAX_KEY_BYTES = 2_000;
const LONG_KEY = `its key has more than ${MAX_KEY_BYTES} bytes, for which an index of PostgreSQL may have no room`;

function hasRoom({ keyColumns }: Table, key: Row): boolean {
  const bytes = keyColumns.map(({ name }) => {
    const value = fieldOf(key, name);
    return typeof value === "string" ? Buffer.byteLength(value) : 0;
  });
  return bytes.reduce((sum, some) => sum + some, 0) <= MAX_KEY_BYTES;
}

/** Marks the database, and empties it of what a start makes. */
async function mark(
  tx: ServerTransaction,
  schema: string,
  options: EmptyPostgresOptions,
): Promise<void> {
  if (await isHeld(tx)) throw storeHeld();
  const facts = new Map(await readFacts(tx));
  const isUnfinished = facts.delete("filled_by");
  checkFormat(facts, true);
  await tx.script(MAKE_SCHEMA);
  if (!isUnfinished) await refuseFull(tx, schema, options);
  await setFact(tx, "filled_by", options.by);
  await empty(tx, schema);
}

async function refuseFull(
  tx: ServerTransaction,
  schema: string,
  { adminUsername, tables }: EmptyPostgresOptions,
): Promise<void> {
  const prepared = await preparedTables(tx, schema);
  const own = new Set(prepared.filter((one) => !one.isForeign).map(({ name }) => name));
  const known = await tx.query("select name from repsync._tables");
  for (const name of new Set([...tables, ...known.map(([kept]) => String(kept))])) {
    const full = `${quoted(schema)}.${quoted(name)}`;
    if (!(await isThere(tx, full))) continue;
    if (!own.has(name)) throw storeNotEmpty(`another program has a table "${name}" there`);
    if ((await tx.query(`select from ${full} limit 1`)).length > 0) {
      throw storeNotEmpty(`table "${name}" has rows`);
    }
  }
  if (!(await isThere(tx, "repsync.accounts"))) return;
  const other =
    "select from repsync.accounts where doc->>'username' is distinct from $1::text limit 1";
  if ((await tx.query(other, [adminUsername])).length > 0) throw storeNotEmpty("it has accounts");
}

/** Drops what the service has made, but the mark and the holders. */
async function empty(tx: ServerTransaction, schema: string): Promise<void> {
  for (const { name, isForeign } of await preparedTables(tx, schema)) {
    if (!isForeign) await tx.script(`drop table ${quoted(schema)}.${quoted(name)}`);
  }
  const text =
    "select relname, relkind::text from pg_class where relnamespace = to_regnamespace('repsync') and relkind in ('r', 'S')";
  const kept: readonly string[] = [...OWN_TABLES, "_holders"];
  for (const [name, kind] of await tx.query(text)) {
    if (kept.includes(String(name))) continue;
    const what = kind === "S" ? "sequence" : "table";
    await tx.script(`drop ${what} if exists repsync.${quoted(String(name))} cascade`);
  }
  await tx.script("delete from repsync._tables; delete from repsync._told");
}

async function setNumbers(
  tx: ServerTransaction,
  layout: Layout,
  { name, lastNumber, deletes }: DumpedTable,
): Promise<void> {
  if (lastNumber > 0 && layout.numbered !== null) {
    const text = "select setval($1::text::regclass, $2::text::int8)";
    await tx.query(text, [layout.numbers, String(lastNumber)]);
  }
  if (deletes === null) return;
  const { list, lastPlace, completeSince } = deletes;
  const text =
    "update repsync._tables set deletes = $2::text, last_place = $3::text::int8, complete_since = $4::text where name = $1::text";
  await tx.query(text, [name, list, String(lastPlace), completeSince]);
}

async function writeTombstones(
  tx: ServerTransaction,
  layout: Layout,
  items: readonly DumpedTombstone[],
): Promise<void> {
  const { keyColumns } = layout.table;
  const names = nameText(keyColumns);
  const lists = layout.casts(keyColumns);
  const at = keyColumns.length;
  const text = `insert into ${layout.deleted} (${names}, deleted_at, taken_ms, place)
    select * from unnest(${lists.join(", ")}, $${at + 1}::text[]::timestamptz[], $${at + 2}::text[]::int8[], $${at + 3}::text[]::int8[])`;
  await tx.query(text, [
    ...layout.keyLists(items.map(({ key }) => key)),
    textList(items.map(({ deletedAt }) => deletedAt)),
    textList(items.map(({ takenAtMs }) => String(takenAtMs))),
    textList(items.map(({ place }) => String(place))),
  ]);
}
