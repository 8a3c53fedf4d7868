// A store in memory that is read whole, or filled.
import { storeHeld, storeNotEmpty } from "../../../src/domain/shared/store-format.ts";
import { keyText } from "../../../src/domain/sync/rows/row-key.ts";
import type { EmptyStore } from "../../../src/ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedStore,
  type DumpedTable,
  tableOf,
} from "../../../src/ports/copies/store-dump.ts";
import { copiedOf } from "../../../src/ports/documents.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import type { MemoryDocuments } from "./documents.ts";
import { putRow, type StoredTable } from "./stored-table.ts";
import type { MemoryTables } from "./tables.ts";

/** What instances share, as far as copies go. */
interface MemoryDatabase {
  readonly tables: MemoryTables;
  readonly documents: MemoryDocuments;
  deploymentId: string;
  readonly holders: ReadonlySet<object>;
}

/** The dump of a database. */
export async function dumpMemory(database: MemoryDatabase): Promise<Dump> {
  const stored = [...database.tables.moment().values()];
  const tables = stored.map(describedBy).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const parts = partsOf(database, tables);
  const items = parts.reduce((sum, part) => sum + part.items.length, 0);
  const about = { store: "memory", tables, items } as const;
  return {
    about: { ...about, deploymentId: database.deploymentId },
    parts: (async function* () {
      yield* parts;
    })(),
    close: async () => {},
  };
}

function partsOf(
  { documents, tables }: MemoryDatabase,
  dumped: readonly DumpedTable[],
): readonly DumpedPart[] {
  return [
    ...copiedOf(COLLECTIONS).map((from) => {
      return { of: "documents", name: from.name, items: documents.readNow(from) } as const;
    }),
    ...dumped.map((table) => {
      const items = tables.sortedRows(tableOf(table)).map((row) => ({ row }));
      return { of: "rows", name: table.name, items } as const;
    }),
    ...dumped.map(({ name }) => {
      const items = [...(tables.moment().get(name)?.deletes?.kept.values() ?? [])];
      return { of: "tombstones", name, items } as const;
    }),
  ].filter(({ items }) => items.length > 0);
}

function describedBy({ table, nextId, deletes }: StoredTable): DumpedTable {
  const columns = table.columns.map(({ name, type, autoIncrement }) => [
    name,
    autoIncrement ? { type, auto_increment: true } : { type },
  ]);
  const entry = {
    upsert_key: table.keyColumns.map(({ name }) => name),
    timestamp_column: table.timestampColumn,
    columns: Object.fromEntries(columns),
  };
  const { list = "", lastPlace = 0, completeSince = "" } = deletes ?? {};
  return {
    name: table.name,
    entry,
    isForeign: false,
    lastNumber: nextId - 1,
    deletes: deletes && { list, lastPlace, completeSince },
  };
}

/** Which databases are being filled. */
const filled = new WeakSet<MemoryDatabase>();

export class EmptyMemory implements EmptyStore {
  readonly kind = "memory";
  readonly #database: MemoryDatabase;

  private constructor(database: MemoryDatabase) {
    this.#database = database;
  }

  static async claim(database: MemoryDatabase): Promise<EmptyMemory> {
    if (filled.has(database) || database.holders.size > 0) {
      throw storeHeld(0);
    }
    filled.add(database);
    const { parts } = await dumpMemory(database);
    for await (const { of, name } of parts) {
      if (of !== "rows") continue;
      filled.delete(database);
      throw storeNotEmpty(`table "${name}" has rows`);
    }
    return new EmptyMemory(database);
  }

  async begin(about: DumpedStore): Promise<void> {
    const { tables } = this.#database;
    await tables.prepare(about.tables.map(tableOf));
    for (const dumped of about.tables) {
      const own = tables.own(dumped);
      own.nextId = dumped.lastNumber + 1;
      own.deletes = dumped.deletes && { ...dumped.deletes, kept: new Map() };
    }
  }

  async write(part: DumpedPart): Promise<void> {
    const { documents, tables } = this.#database;
    if (part.of === "documents") {
      const to = COLLECTIONS.find(({ name }) => name === part.name);
      if (to === undefined) throw new Error(`No collection "${part.name}"`);
      documents.writeNow((tx) => {
        for (const doc of part.items) tx.put(to, doc);
      });
      return;
    }
    const own = tables.own(part);
    if (part.of === "rows") {
      for (const { row } of part.items) putRow(own.table, own, row);
      return;
    }
    for (const tombstone of part.items) {
      own.deletes?.kept.set(keyText(own.table, tombstone.key), tombstone);
    }
  }

  dump(): Promise<Dump> {
    return dumpMemory(this.#database);
  }

  async finish(deploymentId: string): Promise<void> {
    this.#database.deploymentId = deploymentId;
    filled.delete(this.#database);
  }

  async giveUp(): Promise<void> {
    const { documents, tables } = this.#database;
    tables.clear();
    documents.writeNow((tx) => {
      for (const from of COLLECTIONS) {
        for (const doc of documents.readNow(from)) tx.remove(from, from.keyOf(doc));
      }
    });
    filled.delete(this.#database);
  }
}
