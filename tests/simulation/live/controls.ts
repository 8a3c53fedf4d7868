// Broken variants of the product, each with one rule of D-7 left out. The simulation must catch them.
import type { NewRejection } from "../../../src/ports/runs/rejected-records.ts";
import type { TableStore, WriteOutcome } from "../../../src/ports/tables/table-store.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import type { LiveEnd } from "./live-end.ts";
import type { Sabotage } from "./live-world.ts";

type Write = TableStore["write"];

/** Time in which a process may die between two commits. */
const SLOW_DISK_MS = 6_000;

/** Rows are written whatever is there. */
export const NO_GUARD: Sabotage = {
  deps: (deps) =>
    writing(
      deps,
      (write) => (table, writes, options) =>
        write(table, writes, { ...options, conflict: "overwrite" }),
    ),
  server: (server) => ({
    ...server,
    async push(name, push) {
      const result = await server.push(name, { ...push, isGuarded: false });
      return { ...result, kept: 0, changed: result.upserted };
    },
  }),
};

/** Deletes stay where they are made. */
export const NO_TOMBSTONE: Sabotage = {
  deps: (deps) =>
    writing(
      deps,
      (write) =>
        (table, writes, { deleted: _, ...options } = {}) =>
          write(table, writes, options),
    ),
  server: (server) => ({
    ...server,
    async push(name, { deleted = [], ...push }) {
      if (deleted.length === 0) return await server.push(name, push);
      return { table: name, received: 0, upserted: 0, deleted: 0, integrity: "verified" };
    },
  }),
};

/** The marker is committed first, and what was refused afterwards. */
export const MARKER_BEFORE_REFUSAL: Sabotage = {
  deps: (deps) =>
    writing(deps, (write) => async (table, writes, options = {}) => {
      let refused: readonly NewRejection[] = [];
      const beforeCommit = (outcome: WriteOutcome) => {
        const { rejected = [], ...extras } = options.beforeCommit?.(outcome) ?? {};
        refused = rejected;
        return extras;
      };
      const outcome = await write(table, writes, { ...options, beforeCommit });
      if (refused.length === 0) return outcome;
      await deps.timer.sleep(SLOW_DISK_MS);
      await write(table, [], { beforeCommit: () => ({ rejected: refused }) });
      return outcome;
    }),
};

/** A remote tells of no late rows. */
export const NO_REMOTE_MARKS: Sabotage = {
  server: (server) => ({
    ...server,
    async schema(name, lateAfter) {
      const schema = await server.schema(name, lateAfter);
      return { ...schema, late: { ...schema.late, from: null } };
    },
  }),
};

/** The end that runs finds none of its own late rows. */
export const NO_OWN_MARKS: Sabotage = {
  deps: (deps) => ({
    ...deps,
    lateRows: {
      read: async (table, query) => ({ ...(await deps.lateRows.read(table, query)), from: null }),
    },
  }),
};

/** What the marks of an end stand for in `MARK_AFTER_READING`. */
const realMarks = new WeakMap<LiveEnd, string[]>();

/** The mark that a pull keeps is that of its last page. */
export const MARK_AFTER_READING: Sabotage = {
  server(server, end) {
    const marks = realMarks.get(end) ?? [];
    realMarks.set(end, marks);
    let given = -1;
    const markOfNow = async () => (await server.schema("items", null)).late.mark;
    return {
      ...server,
      async schema(name, lateAfter) {
        const known = lateAfter === null ? null : (marks[Number(lateAfter)] ?? "");
        const schema = await server.schema(name, known);
        given = marks.push(schema.late.mark) - 1;
        return { ...schema, late: { ...schema.late, mark: String(given) } };
      },
      async pull(name, query) {
        const page = await server.pull(name, query);
        if (given >= 0) marks[given] = await markOfNow();
        return page;
      },
    };
  },
};

/** Nobody remembers what both ends had alike. */
export const NO_AGREED_ROWS: Sabotage = {
  deps: (deps) => ({
    ...deps,
    agreed: {
      read: async () => [],
      replace: async () => {},
      clear: (names) => deps.agreed.clear(names),
    },
  }),
};

/** Whatever the remote is, it is taken for the one before. */
export const ONE_REMOTE: Sabotage = {
  deps: (deps) => ({
    ...deps,
    markers: {
      writeAll: (markers) => deps.markers.writeAll(markers),
      readAll: async () => {
        const markers = await deps.markers.readAll();
        return new Map([...markers].filter(([name]) => !name.startsWith("sync_remote_")));
      },
    },
  }),
};

/** Nobody owns a table without times, and its rows go both ways all the same. */
export const NO_OWNER: Sabotage = {
  deps(deps) {
    const ownerless = [...deps.registry].map(
      ([name, table]) => [name, { ...table, direction: null }] as const,
    );
    const { tables } = writing(deps, (write) => write);
    // An end that seems to have no rows is filled.
    return {
      ...{ ...deps, registry: new Map(ownerless) },
      tables: { ...tables, countRows: async () => 0 },
    };
  },
};

/** The dependencies with another way to write. */
function writing(deps: SyncDeps, change: (write: Write) => Write): SyncDeps {
  const { tables } = deps;
  return {
    ...deps,
    tables: {
      prepare: (all) => tables.prepare(all),
      readPage: (table, query) => tables.readPage(table, query),
      readPart: (table, query) => tables.readPart(table, query),
      readRow: (table, key) => tables.readRow(table, key),
      countRows: (table) => tables.countRows(table),
      settled: (table) => tables.settled(table),
      write: change((table, writes, options) => tables.write(table, writes, options)),
    },
  };
}
