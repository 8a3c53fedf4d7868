// The registry of a process that serves: what it holds is replaced whole while requests and runs go on. D-14.6. Whoever asks
// for a table, or for all of them, gets tables that never change, and keeps those to its end.
import type { Registry, Table } from "../../../domain/sync/table/table.ts";

/** Another registry, and how it differs. */
interface RegistryChange {
  /** With the tables as they are in place of those that are the same. */
  readonly registry: Registry;
  /** The differences, such as `added a, b; gone c`. */
  readonly summary: string;
}

export class LiveRegistry extends Map<string, Table> {
  /** Has every later question answered by another registry. */
  take(tables: Registry): void {
    this.clear();
    for (const [name, table] of tables) this.set(name, table);
  }

  /** The difference of another registry; null where there is none. */
  changeTo(next: Registry): RegistryChange | null {
    const tables = Array.from(next.values(), (table) => {
      const present = this.get(table.name);
      return present !== undefined && isSame(present, table) ? present : table;
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
      summary: texts.join("; ") || "in another order",
    };
  }
}

function isSame(a: Table, b: Table): boolean {
  return JSON.stringify(a.entry) === JSON.stringify(b.entry);
}
