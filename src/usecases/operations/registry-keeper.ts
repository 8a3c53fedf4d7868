// Follows the registry file while the service runs: prepares new tables under a lease of all instances, then serves all of them
// together. D-14.6. A file with a problem changes nothing, and is told once. Tables that another program has made anew are prepared
// again.
import { AppError, INTERNAL_MESSAGE, isAppError } from "../../domain/shared/errors.ts";
import { readRegistry } from "../../domain/sync/table/registry.ts";
import type { TableEntry } from "../../domain/sync/table/registry-schema.ts";
import type { Registry, Table } from "../../domain/sync/table/table.ts";
import type { NewTable, RegistrySource } from "../../ports/files.ts";
import { type Ids, repeat } from "../../ports/runtime/runtime.ts";
import type { TableStore } from "../../ports/tables/table-store.ts";
import { holdLease, type LeaseDeps } from "../sync/shared/hold-lease.ts";

const LOOK_EVERY_MS = 5_000;

interface RegistryKeeperDeps extends LeaseDeps {
  readonly registry: LiveRegistry;
  readonly source: RegistrySource;
  readonly storage: { readonly tables: Pick<TableStore, "disturbed"> };
  /** Makes tables in the store, or with `isServed` what served ones lack. Throws `AppError`. */
  prepareTables(tables: readonly Table[], isServed: boolean): Promise<void>;
  readonly ids: Ids;
}

/** A table that was added; or, where the file cannot be written from here, why, and the text to add by hand. */
type AddResult =
  | { readonly isAdded: true; readonly table: string; readonly entry: TableEntry }
  | { readonly isAdded: false; readonly error: string; readonly text: string };

export class RegistryKeeper {
  readonly #deps: RegistryKeeperDeps;
  readonly #stop = new AbortController();
  #problem: string | null = null;
  /** The text of the file at the last look. */
  #text: string | null | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: RegistryKeeperDeps) {
    this.#deps = deps;
  }

  /** Why the registry file is not taken up, or a table not used; null while neither. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Reads the file every 5 seconds until `stop`. */
  watch(): void {
    void repeat(this.#deps.timer, LOOK_EVERY_MS, this.#stop.signal, () => this.look());
  }

  /** Reads the file now. Never rejects. */
  async look(): Promise<void> {
    await this.#inTurn(() => this.#look());
  }

  /** Adds a table to the file, and serves it. Throws `invalid_request` for a wrong entry, `conflict`, `store_unavailable`. */
  async add(name: string, entry: unknown): Promise<AddResult> {
    const table = soundTable(name, entry);
    return await this.#inTurn(() => this.#add(table));
  }

  /** Resolves once no change is under way. */
  async stop(): Promise<void> {
    this.#stop.abort(new AppError("stopping", "The service is stopping"));
    await this.#last;
  }

  async #look(): Promise<void> {
    const { text, registry, problems } = await this.#deps.source.read();
    const errors: unknown[] = [];
    const note = (error: unknown) => void errors.push(error);
    if (registry === null) note(new AppError("invalid_request", problems.join("; ")));
    else await this.#takeUp(registry, (fresh) => this.#prepare(fresh)).catch(note);
    // Whatever the file says: those that are served need a look all the same.
    await this.#prepareAgain(note).catch(note);
    if (this.#stop.signal.aborted) return;
    const texts = new Set(
      errors.map((error) => (isAppError(error) ? error.text : INTERNAL_MESSAGE)),
    );
    const problem = errors.length === 0 ? null : [...texts].join("\n");
    const isTold = problem === this.#problem && text === this.#text;
    [this.#problem, this.#text] = [problem, text];
    if (problem === null || isTold) return;
    const cause = errors.find((error) => !isAppError(error));
    this.#deps.logger.error(`The registry has a problem: ${problem}`, cause);
  }

  async #add(table: NewTable): Promise<AddResult> {
    const { registry, source } = this.#deps;
    const fresh = (next: Registry) => registry.changeTo(next)?.fresh ?? [];
    try {
      const next = await source.add(table, (tables) => this.#prepare(fresh(tables)));
      await this.#takeUp(next, async () => {});
    } catch (error) {
      if (isAppError(error, "schema_conflict")) throw new AppError("conflict", error.message);
      if (!isAppError(error, "file_failed")) throw error;
      return { isAdded: false, error: error.message, text: source.textToAdd(table) };
    }
    return { isAdded: true, table: table.name, entry: table.entry };
  }

  /** Prepares new and changed tables only: another program may be changing one that is served. */
  async #takeUp(
    next: Registry,
    prepare: (fresh: readonly Table[]) => Promise<void>,
  ): Promise<void> {
    const { registry, logger } = this.#deps;
    const change = registry.changeTo(next);
    if (change === null) return;
    await prepare(change.fresh);
    registry.take(change.registry);
    logger.info(`The registry was taken up: ${change.summary}`);
  }

  /** Prepares the tables that another program has changed, each alone. One is not used while a start would refuse it. */
  async #prepareAgain(note: (error: unknown) => void): Promise<void> {
    const { registry, storage, logger } = this.#deps;
    const { stopped } = registry;
    // Null while the store does not answer.
    const asked = storage.tables.disturbed?.([...registry.values()]).catch(() => null);
    const disturbed = (await asked) ?? null;
    if (disturbed !== null) {
      const names = new Set(disturbed.map(({ name }) => name));
      for (const name of stopped.keys()) if (!names.has(name)) stopped.delete(name);
    }
    for (const table of disturbed ?? []) {
      const { name } = table;
      try {
        await this.#prepare([table], true);
      } catch (error) {
        if (isAppError(error, "schema_conflict")) stopped.set(name, error.message);
        else note(error);
        continue;
      }
      stopped.delete(name);
      logger.info("Another program has changed a table, so it was prepared again: compare it", {
        table: name,
      });
    }
    if (stopped.size > 0) throw new AppError("schema_conflict", [...stopped.values()].join("\n"));
  }

  /** Prepares tables, one instance after the other, as two that add tables would meet in the store. */
  async #prepare(tables: readonly Table[], isServed = false): Promise<void> {
    const { ids } = this.#deps;
    await using _lease = await holdLease(this.#deps, "registry", ids.next(), this.#stop.signal);
    await this.#deps.prepareTables(tables, isServed);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** Throws `invalid_request` with all problems of the entry. */
function soundTable(name: string, entry: unknown): NewTable {
  try {
    readRegistry({ tables: { [name]: entry } });
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    throw new AppError("invalid_request", error.problems.map(({ detail }) => detail).join("; "));
  }
  return { name, entry: entry as TableEntry };
}

/** The registry of a serving process. Its tables never change: who has got one keeps it to the end of the work. */
export class LiveRegistry extends Map<string, Table> {
  readonly stopped = new Map<string, string>();

  /** Replaces all tables at once. */
  take(tables: Registry): void {
    this.clear();
    for (const [name, table] of tables) this.set(name, table);
  }

  /**
   * Null for no change. Else all tables, of which those that stay are the objects of before; the new and changed ones; and a summary
   * such as `added a, b; gone c`.
   */
  changeTo(next: Registry) {
    const tables = Array.from(next.values(), (table) => {
      const present = this.get(table.name);
      const isSame = JSON.stringify(present?.entry) === JSON.stringify(table.entry);
      return present !== undefined && isSame ? present : table;
    });
    const now = [...this.values()];
    const isEqual = tables.length === now.length && tables.every((table, i) => table === now[i]);
    if (isEqual) return null;
    const added = tables.filter(({ name }) => !this.has(name));
    const changed = tables.filter((table) => this.has(table.name) && !now.includes(table));
    const gone = now.filter(({ name }) => !next.has(name));
    const parts = Object.entries({ added, changed, gone }).filter(([, of]) => of.length > 0);
    const texts = parts.map(([what, of]) => `${what} ${of.map(({ name }) => name).join(", ")}`);
    return {
      registry: new Map(tables.map((table) => [table.name, table])),
      fresh: [...added, ...changed],
      summary: texts.join("; ") || "in another order",
    };
  }
}
