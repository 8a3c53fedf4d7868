import type { Key } from "../domain/shared/document-key.ts";
import { type KnownColumns, requireMoved } from "../domain/sync/run/compare-schemas.ts";
import { blockParts } from "../domain/sync/run/exchanged-rows.ts";
import {
  clearedMemory,
  type DirectionMemory,
  isOtherRemote,
  type MemoryChange,
  NO_MEMORY,
  type RemoteIdentity,
  remoteText,
  type TableMemory,
} from "../domain/sync/run/remote-memory.ts";
import { SYNC_DIRECTIONS, type SyncDirection } from "../domain/sync/run/run.ts";
import type { DocumentStore, Transaction } from "../ports/documents.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import { RunRepository } from "./repository.ts";
import { DRIFTS, EXCHANGED, MEMORY, type MemoryDocument } from "./run-collections.ts";

/** The owner of the memory that a commit keeps. */
export interface MemoryOwner {
  readonly table: string;
  readonly direction: SyncDirection;
  readonly remote: RemoteIdentity;
  /** The columns that take part. */
  readonly columns: KnownColumns;
  /** Columns without which the other direction had moved rows when this transfer began: they are allowed for. */
  readonly known: readonly string[];
}

/**
 * The memory of tables about their remote, a document for each direction, as a push and a pull of a table run at once. Memory of
 * another remote is never used: the first commit with this remote removes it. D-4.5, D-11.10.
 */
export class RemoteMemory extends RunRepository {
  /**
   * Reads the memory of a table, and the store's clock. With `remote` memory of another one is left out, and `isOther` tells that
   * there was some.
   */
  async read(table: string, remote: RemoteIdentity | null = null) {
    return await this.reading("memory.read", async (at) => {
      const [found] = await at.read(memoryQuery(table));
      const isOther = isOfOther(found, remote);
      return { ...(isOther ? NO_MEMORY : memoryOf(found)), isOther, nowMs: at.nowMs };
    });
  }

  /** Reads the memory of every table that has one. */
  async readAll(): Promise<ReadonlyMap<string, TableMemory>> {
    const [found] = await this.ask("memory.read_all", { from: MEMORY, stretch: {} });
    const byTable = Map.groupBy(found, ({ table }) => table);
    return new Map([...byTable].map(([table, ofTable]) => [table, memoryOf(ofTable)]));
  }

  /** Lets these directions begin at the first row. S-4.4.2. */
  async clear(
    tables: readonly string[],
    directions: readonly SyncDirection[] = SYNC_DIRECTIONS,
  ): Promise<void> {
    const places = tables.flatMap((table) => directions.map((direction) => ({ table, direction })));
    await this.writing("memory.clear", async (tx) => {
      const [found] = await tx.read({ from: MEMORY, keys: places.map(MEMORY.keyOf) });
      for (const { table, direction } of places) {
        const kept = find(found, table, direction);
        const { remote } = kept ?? {};
        const whose = remote === undefined ? {} : { remote };
        tx.put(MEMORY, { ...clearedMemory(kept ?? {}), table, direction, ...whose });
      }
    });
  }

  /** As `DriftDocument`, by table. */
  async drifts(): Promise<ReadonlyMap<string, number>> {
    const [found] = await this.ask("memory.drifts", { from: DRIFTS, stretch: {} });
    return new Map(found.map(({ table, rows }) => [table, rows]));
  }

  async keepDrifts(drifts: ReadonlyMap<string, number>): Promise<void> {
    await this.writing("memory.keep_drifts", async (tx) => {
      for (const [table, rows] of drifts) tx.put(DRIFTS, { table, rows });
    });
  }
}

/** The query whose answer `keepMemory` takes; without a table it finds nothing. */
export function memoryQuery(table: string | null) {
  const keys = table === null ? [] : SYNC_DIRECTIONS.map((direction) => [table, direction]);
  return { from: MEMORY, keys } as const;
}

/** Keeps a change; `found` answers `memoryQuery`. True when another remote's memory went. Throws as `requireMoved`. */
export function keepMemory(
  tx: Transaction,
  { table, direction, remote, ...own }: MemoryOwner,
  found: readonly MemoryDocument[],
  change: MemoryChange,
): boolean {
  const isOther = isOfOther(found, remote);
  const other = found.find((kept) => kept.direction !== direction);
  if (!isOther) requireMoved(table, own.columns, own.known, other?.columns);
  for (const one of SYNC_DIRECTIONS) {
    const kept = isOther ? undefined : find(found, table, one);
    const whose = one === direction ? { remote: remoteText(remote) } : {};
    const changed = { ...change[one], ...whose };
    const isSame = Object.entries(changed).every(
      ([name, value]) => kept?.[name as keyof MemoryDocument] === value,
    );
    if (!isSame) tx.put(MEMORY, { ...kept, ...changed, table, direction: one });
    else if (isOther) tx.remove(MEMORY, [table, one]);
  }
  if (isOther) tx.remove(DRIFTS, [table]);
  return isOther;
}

function isOfOther(found: readonly MemoryDocument[], remote: RemoteIdentity | null): boolean {
  return remote !== null && found.some((kept) => isOtherRemote(kept.remote, remote));
}

function memoryOf(found: readonly MemoryDocument[]): TableMemory {
  const of = (direction: SyncDirection): DirectionMemory => {
    const kept = found.find((one) => one.direction === direction);
    if (kept === undefined) return {};
    const { table: _, direction: __, remote: ___, ...memory } = kept;
    return memory;
  };
  return { push: of("push"), pull: of("pull") };
}

function find(found: readonly MemoryDocument[], table: string, direction: SyncDirection) {
  return found.find((kept) => kept.table === table && kept.direction === direction);
}

/** The exchanged rows of each table, in blocks that only the domain can read (`ExchangedRows`). D-7.1. */
export class ExchangedBlocks extends RunRepository {
  readonly #ids: Ids;

  constructor(documents: DocumentStore, ids: Ids) {
    super(documents);
    this.#ids = ids;
  }

  /** The blocks of a table, the oldest first, and where they stand, for `replace`. */
  async read(table: string) {
    const stretch = { within: [[table]] };
    const [found] = await this.ask("exchanged.read", { from: EXCHANGED, stretch });
    return { blocks: found.map(({ versions }) => versions), keys: found.map(EXCHANGED.keyOf) };
  }

  /** Adds a block in a commit that has read `lastBlockQuery`. Commits at once get the same number and do not meet. */
  add(tx: Transaction, table: string, block: Uint8Array, [last]: readonly Key[]): void {
    const number = last === undefined ? 0 : Number(last[1]) + 1;
    for (const [i, versions] of blockParts(block).entries()) {
      tx.put(EXCHANGED, { table, number: number + i, id: this.#ids.next(), versions });
    }
  }

  /** Puts blocks in place of those that were read; later ones stay. Does nothing when one is gone, as somebody else did it. */
  async replace(table: string, keys: readonly Key[], blocks: readonly Uint8Array[]): Promise<void> {
    const number = Number(keys.at(-1)?.[1] ?? 0);
    // Blocks with one number stand in the order of their ids.
    const ids = blocks.map(() => this.#ids.next()).sort();
    await this.writing("exchanged.replace", async (tx) => {
      const [found] = await tx.read({ from: EXCHANGED, keysOf: { within: keys } });
      if (found.length < keys.length) return;
      for (const key of keys) tx.remove(EXCHANGED, key);
      for (const [i, versions] of blocks.entries()) {
        tx.put(EXCHANGED, { table, number, id: ids[i] ?? "", versions });
      }
    });
  }

  async clear(tables: readonly string[]): Promise<void> {
    await this.writing("exchanged.clear", (tx) => forgetBlocks(tx, tables));
  }
}

/** The query of a commit that adds a block: the key of the last one. */
export function lastBlockQuery(table: string) {
  return { from: EXCHANGED, keysOf: { within: [[table]], isReverse: true, limit: 1 } } as const;
}

export async function forgetBlocks(tx: Transaction, tables: readonly string[]): Promise<void> {
  const within = tables.map((table) => [table]);
  const [keys] = await tx.read({ from: EXCHANGED, keysOf: { within } });
  for (const key of keys) tx.remove(EXCHANGED, key);
}
