// A table with deletes in a SQLite file, and another program at work on it. D-7.6.
import type { Database } from "bun:sqlite";
import { test } from "bun:test";
import type { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { SqliteFile } from "../support.ts";

export const NUMBERED = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  deletes: true,
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    at: { type: "datetime" },
    v: { type: "integer" },
  },
});

export const LONG_AGO = "2024-01-01T00:00:00";
export const soon = () => new Date(Date.now() + 60_000).toISOString().slice(0, 19);

export interface Scene {
  readonly storage: SqliteStorage;
  readonly program: Database;
  /** The keys that are listed. */
  keys(after?: string | null): Promise<readonly unknown[]>;
}

export function scene(name: string, body: (scene: Scene) => Promise<void>): void {
  test(name, () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([NUMBERED]);
      const program = file.openElsewhere();
      for (const [i, k] of ["a", "b", "c"].entries()) {
        program.run("INSERT INTO items (id, k, at, v) VALUES (?, ?, ?, 0)", [i + 1, k, LONG_AGO]);
      }
      const keys = async (after: string | null = null) => {
        const query = { after, sinceTime: null, limitRows: 100 };
        const { items } = await storage.tombstones.list(NUMBERED, query);
        return items.map(({ key }) => key["k"]);
      };
      await body({ storage, program, keys });
    }),
  );
}
