// One deployment with a store of its own: what it serves, and what other programs do to its rows.

import { isAppError } from "../../../src/domain/shared/errors.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Registry, Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import { type RowsToWrite, writeRows } from "../../../src/usecases/sync/shared/write-rows.ts";
import { MemoryTables } from "../../support/memory/tables.ts";
import { makeRegistry } from "../../support/rows/make-table.ts";
import { readPage } from "../../support/rows/read-rows.ts";
import { type RunParts, runParts } from "../../support/run-parts.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { SimTime } from "../../support/time/sim-time.ts";
import { foreignServer, repsyncServer, type SimServer } from "../sim-servers.ts";
import type { LiveScenario } from "./live-scenario.ts";
import {
  type LiveStorage,
  type OpenedStore,
  openMemory,
  openPostgres,
  openSqlite,
} from "./live-stores.ts";

/** How an end has the table registered. */
interface EndRegistry {
  readonly timeType: "datetime" | "date";
  readonly lagSeconds: number;
  readonly deletes: boolean;
  readonly stamped: boolean;
  /** Which way the rows go; null in a table with a timestamp column. */
  readonly direction: "push" | "pull" | null;
  /** Longer texts in `v` are refused; null when none are. */
  readonly maxChars: number | null;
  /** False while the column `notes` does not exist. */
  readonly hasNotes: boolean;
}

/** Arguments of `LiveEnd.open`. */
interface EndOptions {
  readonly name: string;
  readonly store: LiveScenario["store"];
  readonly clock: Clock;
  /** The clock of its store, which SQLite has not. */
  readonly storeClock: Clock;
  readonly time: SimTime;
  readonly maxPageRows: number;
  readonly registry: EndRegistry;
  /** Asked before each commit of SQLite: true when the disk is full for it. */
  readonly isDiskFull: () => boolean;
}

/** Each instance looks at the registry file that often. D-14.6. */
const TAKE_UP_MS = 5_000;

export class LiveEnd {
  readonly name: string;
  readonly clock: Clock;
  /** The one that other programs write and delete by. */
  readonly storeClock: Clock;
  readonly maxPageRows: number;
  readonly storage: LiveStorage;
  readonly #parts: RunParts;
  readonly #remove: OpenedStore["remove"];
  #entry: EndRegistry;
  #registry: Registry = new Map();
  /** The registry before the last change, and until when some instances go by it. */
  #former: Registry = this.#registry;
  #alikeFromMs = 0;

  private constructor(
    { name, clock, storeClock, maxPageRows, registry }: EndOptions,
    opened: OpenedStore,
  ) {
    this.name = name;
    this.clock = clock;
    this.storeClock = storeClock;
    this.maxPageRows = maxPageRows;
    this.storage = opened.storage;
    this.#parts = runParts(opened.storage.documents);
    this.#remove = opened.remove;
    this.#entry = registry;
  }

  static async open(options: EndOptions): Promise<LiveEnd> {
    const { store, clock, storeClock, time } = options;
    const opened =
      store === "memory"
        ? openMemory(storeClock)
        : store === "SQLite"
          ? await openSqlite(clock, options.isDiskFull)
          : await openPostgres(storeClock, time);
    const end = new LiveEnd(options, opened);
    await end.register({});
    return end;
  }

  /** Starts anew with another registry. */
  async register(changes: Partial<EndRegistry>): Promise<void> {
    this.#entry = { ...this.#entry, ...changes };
    const table = makeRegistry({ items: itemsEntry(this.#entry) }).get("items") as Table;
    await untilCommitted(() => this.storage.tables.prepare([table]));
    if (this.#registry.size > 0) this.#alikeFromMs = this.clock.nowMs() + TAKE_UP_MS;
    this.#former = this.#registry;
    this.#registry = new Map([["items", table]]);
  }

  get hasNotes(): boolean {
    return this.#entry.hasNotes;
  }

  /** False for a text that it refuses. */
  takes(v: string): boolean {
    return v.length <= (this.#entry.maxChars ?? v.length);
  }

  /** The registry of one of its instances now: for some seconds after a change not all have taken it up. */
  registryOf(random: SeededRandom): Registry {
    const isDivided = this.clock.nowMs() < this.#alikeFromMs;
    return isDivided && random.chance(0.5) ? this.#former : this.#registry;
  }

  get table(): Table {
    return this.#registry.get("items") as Table;
  }

  /** What one of its instances answers now. */
  server(random: SeededRandom): SimServer {
    const { storage, clock, maxPageRows } = this;
    const registry = this.registryOf(random);
    return repsyncServer({ storage, parts: this.#parts, registry, clock, maxPageRows });
  }

  /** What a service of another kind answers in its place; only with a store in memory. */
  foreignServer(random: SeededRandom): SimServer {
    const { clock, maxPageRows, storage } = this;
    if (!(storage.tables instanceof MemoryTables)) throw new Error("It takes a store in memory");
    const registry = this.#registry;
    const parts = { storage: storage.tables, parts: this.#parts, registry, clock, maxPageRows };
    return foreignServer(parts, { random, isTimelessLast: true, isClockZoned: false });
  }

  /** Every row. */
  async rows(): Promise<readonly Row[]> {
    const page = { sinceTime: null, offsetRows: 0, limitRows: 100_000 };
    return (await readPage(this.storage.tables, this.table, page)).rows;
  }

  /** The row of a key; null when there is none. */
  async row(k: string): Promise<Row | null> {
    return (await this.storage.tables.byKeys(this.table, [{ k }], "sent"))[0] ?? null;
  }

  /** Writes a row as a push, an import or the console does. False when it was not written. */
  async write(row: Row, options: Omit<RowsToWrite, "writes"> = {}): Promise<boolean> {
    return await isCommitted(async () => {
      const rows = { ...options, writes: [{ index: 0, row }] };
      const deps = { ...this.#parts, tables: this.storage.tables };
      const { kept, failures, buried = [] } = await writeRows(deps, this.table, rows);
      if (failures.length > 0) throw new Error(JSON.stringify(failures));
      return kept.length + buried.length === 0;
    });
  }

  /** Deletes a row as any program does. False when it is still there. */
  async remove(k: string): Promise<boolean> {
    return await isCommitted(async () => {
      await this.#remove(this.table, { k });
      return true;
    });
  }
}

/** What the work resolves to; false when it did not happen, as the disk was full. */
async function isCommitted(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (isFailedStep(error)) return false;
    throw error;
  }
}

function itemsEntry(registry: EndRegistry): TableEntry {
  const { timeType, lagSeconds, deletes, stamped, direction, maxChars, hasNotes } = registry;
  return {
    ...{ upsert_key: ["k"], lag_seconds: lagSeconds },
    ...(direction === null ? { timestamp_column: "at" } : { direction }),
    ...(deletes ? { deletes: true } : {}),
    ...(stamped ? { stamped: true } : {}),
    columns: {
      k: { type: "text" },
      v: { type: "text", ...(maxChars === null ? {} : { max_length: maxChars }) },
      at: { type: timeType },
      ...(hasNotes ? { notes: { type: "text" } } : {}),
    },
  };
}

/** Tries until there is room on the disk. */
async function untilCommitted(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isFailedStep(error)) throw error;
    }
  }
}

/** Which of the two it is depends on what the store was asked for. */
function isFailedStep(error: unknown): boolean {
  return isAppError(error, "commit_failed", "store_unavailable");
}
