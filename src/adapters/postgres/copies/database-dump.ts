// Reads a whole database as of one moment, in parts. D-10.7.
import { storeHeld } from "../../../domain/shared/store-format.ts";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import {
  asThere,
  type Dump,
  type DumpedTable,
  type DumpReader,
  dumpedEntry,
  dumpOf,
  tableOf,
} from "../../../ports/copies/store-dump.ts";
import { type AnyCollection, copiedOf } from "../../../ports/documents.ts";
import { CollectionTable, portionsOf } from "../documents/collection-table.ts";
import { Failure, unavailable } from "../driver/errors.ts";
import { type OpenDatabase, type OpenOptions, openDatabase } from "../driver/open-database.ts";
import { literal } from "../driver/sql.ts";
import { Holder, isHeld, readFacts } from "../driver/store-facts.ts";
import { isThere, type ServerTransaction } from "../driver/transaction.ts";
import { timeOf } from "../tables/columns.ts";
import type { TableEntryKept } from "../tables/found.ts";
import { findTables } from "../tables/found-table.ts";
import { Layout, rowAt } from "../tables/layout.ts";
import { DELETED_AT, settle } from "../tables/tombstones.ts";

const FETCH_ROWS = 500;

const TABLES =
  "select name, entry, deletes, last_place, complete_since from repsync._tables order by name";
const TOLD = "select slot::text, min(at)::text from repsync._told group by slot";

/** As `DumpedSource.dump()`, with copies of the collections. */
export async function dumpDatabase(
  { database, schema }: OpenDatabase,
  all: readonly AnyCollection[],
): Promise<Dump> {
  const collections = copiedOf(all);
  const layoutOf = (table: DumpedTable) => new Layout(tableOf(table), schema);
  // Gives places to the deletes so far.
  const known = await database.read({ name: "dump.tables" }, (tx) => preparedTables(tx, schema));
  for (const table of known) await settle(database, layoutOf(table));
  const failure = (error: unknown) => (error instanceof Failure ? unavailable(error) : error);
  const tx = await database.openReading().catch((error) => {
    throw failure(error);
  });
  try {
    const tables = await dumpedTables(tx, schema);
    const names = [
      ...collections.map((from) => new CollectionTable(from).name),
      ...tables.map((table) => layoutOf(table).name),
      ...tables.flatMap((table) => (table.deletes === null ? [] : layoutOf(table).deleted)),
    ];
    const about = {
      store: "postgresql",
      deploymentId: (await readFacts(tx)).get("deployment_id") ?? "",
      tables,
      items: await countItems(tx, names),
    };
    const reader: DumpReader = {
      documents: (from) => documentsOf(tx, from),
      rows: (table) => rowsOf(tx, new Layout(table, schema)),
      tombstones: (table) => tombstonesOf(tx, new Layout(table, schema)),
      failure,
      end: () => tx.rollBack(),
    };
    return dumpOf(about, collections, reader);
  } catch (error) {
    await tx.rollBack();
    throw failure(error);
  }
}

async function dumpedTables(
  tx: ServerTransaction,
  schema: string,
): Promise<readonly DumpedTable[]> {
  const tables = await preparedTables(tx, schema);
  const told = new Map((await tx.query(TOLD)).map(([slot, at]) => [slot, timeOf(String(at))]));
  const dumped: DumpedTable[] = [];
  for (const table of tables) {
    const layout = new Layout(tableOf(table), schema);
    const at = told.get(String(layout.slot));
    const lastNumber = await lastNumberOf(tx, layout);
    const deletes = await withOpen(tx, layout, table.deletes);
    dumped.push({ ...table, lastNumber, deletes, ...(at === undefined ? {} : { told: at }) });
  }
  return dumped;
}

async function countItems(tx: ServerTransaction, names: readonly string[]): Promise<number> {
  let items = 0;
  for (const name of names) {
    if (!(await isThere(tx, name))) continue;
    items += Number(await tx.first(`select count(*) from ${name}`));
  }
  return items;
}

/** Tables that were ever prepared and still exist: a program may drop a table that has left the registry. */
export async function preparedTables(
  tx: ServerTransaction,
  schema: string,
): Promise<readonly DumpedTable[]> {
  const described = (await tx.query(TABLES)).map(describedBy);
  const layouts = described.map((table) => new Layout(tableOf(table), schema));
  await findTables(tx, layouts);
  return described.flatMap((table, i) => asFound(table, layouts[i] as Layout));
}

function asFound(dumped: DumpedTable, { found, isForeign }: Layout): readonly DumpedTable[] {
  const { kept, table } = found;
  if (kept === null || table?.kind !== "table") return [];
  const isThere = (name: string) => table.columns.some((column) => column.name === name);
  return asThere({ ...dumped, isForeign }, isThere);
}

async function lastNumberOf(tx: ServerTransaction, layout: Layout): Promise<number> {
  const { numbered } = layout;
  if (numbered === null) return 0;
  return Number(await tx.first(`select pg_sequence_last_value(${layout.sequence(numbered)})`));
}

/** Adds the deletes that have no place yet, as they get the next places. */
async function withOpen(
  tx: ServerTransaction,
  { deleted }: Layout,
  deletes: DumpedTable["deletes"],
): Promise<DumpedTable["deletes"]> {
  if (deletes === null) return null;
  const open = await tx.first(`select count(*) from ${deleted} where place is null`);
  return { ...deletes, lastPlace: deletes.lastPlace + Number(open) };
}

async function* documentsOf(tx: ServerTransaction, from: AnyCollection): AsyncGenerator<object> {
  const table = new CollectionTable(from);
  if (!(await isThere(tx, table.name))) return;
  for await (const lines of portionsOf(tx, table)) {
    for (const line of lines) yield table.docOf(line);
  }
}

/** Reads by a cursor of the server. */
async function* linesOf(tx: ServerTransaction, text: string) {
  await tx.script(`declare dumped cursor for ${text}`);
  for (;;) {
    const lines = await tx.query(`fetch ${FETCH_ROWS} from dumped`);
    yield* lines;
    if (lines.length < FETCH_ROWS) break;
  }
  await tx.script("close dumped");
}

async function* rowsOf(tx: ServerTransaction, layout: Layout) {
  const { columns } = layout.table;
  const text = `select ${layout.shown(columns)} from ${layout.name} as t`;
  for await (const line of linesOf(tx, text)) yield { row: rowAt(columns, line) };
}

async function* tombstonesOf(tx: ServerTransaction, layout: Layout) {
  const { keyColumns } = layout.table;
  const open = "k.last_place + row_number() over (partition by t.place is null order by t.made)";
  const shown = `coalesce(t.place, ${open})::text, ${DELETED_AT}, t.taken_ms::text, ${layout.shown(keyColumns)}`;
  const text = `select ${shown} from ${layout.deleted} as t, repsync._tables as k where k.name = ${literal(layout.table.name)} order by t.place, t.made`;
  for await (const line of linesOf(tx, text)) {
    const [place, deletedAt, takenAtMs] = line;
    const key = rowAt(keyColumns, line, 3);
    yield {
      place: Number(place),
      key,
      deletedAt: timeOf(String(deletedAt)),
      takenAtMs: Number(takenAtMs),
    };
  }
}

function describedBy(line: readonly unknown[]): DumpedTable {
  const [name, entry, list, lastPlace, completeSince] = line;
  const deletes = {
    list: String(list),
    lastPlace: Number(lastPlace),
    completeSince: String(completeSince),
  };
  return {
    name: String(name),
    entry: dumpedEntry(JSON.parse(String(entry)) as TableEntryKept),
    isForeign: false,
    lastNumber: 0,
    deletes: list === null ? null : deletes,
  };
}

export async function openStoppedPostgres(
  options: OpenOptions & { readonly collections: readonly AnyCollection[] },
): Promise<StoppedStore> {
  const { database, schema } = await openDatabase(options);
  const holder = new Holder(database);
  return {
    dump: () => dumpDatabase({ database, schema }, options.collections),
    async requireStopped() {
      await holder.begin();
      const isInUse = await database.read({ name: "store.held" }, (tx) => isHeld(tx, holder.id));
      if (isInUse) throw storeHeld();
    },
    async close() {
      await holder.end();
      await database.close();
    },
  };
}
