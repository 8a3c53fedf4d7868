// Broken variants of the product, each with one rule of D-7 left out. The simulation must catch them.
import type { AnyCollection } from "../../../src/ports/documents.ts";
import { SEQUENCES } from "../../../src/repositories/collections.ts";
import {
  DROPPED,
  MEMORY,
  REJECTED,
  REJECTED_TEXTS,
} from "../../../src/repositories/run-collections.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import {
  changed,
  type WriteTable,
  withTransactions,
  withWrites,
} from "../../support/rows/changed-writes.ts";
import type { LiveEnd } from "./live-end.ts";
import type { Sabotage } from "./live-world.ts";

/** Time in which a process may die between two commits. */
const SLOW_DISK_MS = 6_000;

/** Rows are written whatever is there. */
export const NO_GUARD: Sabotage = {
  deps: (deps) =>
    writing(
      deps,
      (write) => (table, writes, rule) => write(table, writes, { ...rule, conflict: "overwrite" }),
    ),
  server: (server) => ({
    ...server,
    async push(name, push) {
      const result = await server.push(name, { ...push, isGuarded: false });
      return { ...result, kept: 0, changed: result.upserted };
    },
  }),
};

/** A stamp is now, though the row that it replaces may be later. */
export const STAMPS_NOW: Sabotage = { stampsNow: true };

/** Deletes stay where they are made. */
export const NO_TOMBSTONE: Sabotage = {
  deps: (deps) =>
    writing(
      deps,
      (write) =>
        (table, writes, { deleted: _, ...rule } = {}) =>
          write(table, writes, rule),
    ),
  server: (server) => ({
    ...server,
    async push(name, { deleted = [], ...push }) {
      if (deleted.length === 0) return await server.push(name, push);
      return { table: name, received: 0, upserted: 0, deleted: 0, integrity: "verified" };
    },
  }),
};

const OF_REFUSALS: readonly AnyCollection[] = [REJECTED, REJECTED_TEXTS, SEQUENCES, DROPPED];

/** The marker is committed first, and what was refused afterwards. */
export const MARKER_BEFORE_REFUSAL: Sabotage = {
  deps(deps) {
    const isOfRefusals = ({ name }: AnyCollection) => OF_REFUSALS.some((one) => one.name === name);
    return {
      ...deps,
      documents: {
        prepare: (collections) => deps.documents.prepare(collections),
        read: (options, body) => deps.documents.read(options, body),
        async transact(options, body) {
          let refused: (readonly [AnyCollection, object])[] = [];
          const first = withTransactions(deps.documents, (tx) => {
            refused = [];
            return changed(tx, {
              put: (to, doc) => (isOfRefusals(to) ? void refused.push([to, doc]) : tx.put(to, doc)),
            });
          });
          const result = await first.transact(options, body);
          if (refused.length === 0) return result;
          await deps.timer.sleep(SLOW_DISK_MS);
          await deps.documents.transact(options, async (tx) => {
            for (const [to, doc] of refused) tx.put(to, doc);
          });
          return result;
        },
      },
    };
  },
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
    lateRows: changed(deps.lateRows, {
      read: async (table, query) => ({ ...(await deps.lateRows.read(table, query)), from: null }),
    }),
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

/** An instance that goes by another registry than the run was told of answers all the same. */
export const NO_COLUMNS: Sabotage = {
  server: (server) => ({
    ...server,
    pull: (name, query) => server.pull(name, { ...query, columns: null }),
    push: (name, push) => server.push(name, { ...push, columns: null }),
  }),
};

/** Nobody remembers what both ends had alike. */
export const NO_EXCHANGED_ROWS: Sabotage = {
  deps: (deps) => ({
    ...deps,
    exchanged: changed(deps.exchanged, {
      read: async () => ({ blocks: [], keys: [] }),
      replace: async () => {},
    }),
  }),
};

/** Whatever the remote is, it is taken for the one before. */
export const ONE_REMOTE: Sabotage = {
  deps: (deps) => ({
    ...deps,
    memory: changed(deps.memory, {
      read: async (table) => ({ ...(await deps.memory.read(table)), isOther: false }),
    }),
    documents: withTransactions(deps.documents, (tx) =>
      changed(tx, {
        put(to, doc) {
          const { remote: _, ...nobodys } = doc as { readonly remote?: string };
          tx.put(to, to.name === MEMORY.name ? (nobodys as typeof doc) : doc);
        },
      }),
    ),
  }),
};

/** Nobody owns a table without times, and its rows go both ways all the same. */
export const NO_OWNER: Sabotage = {
  deps(deps) {
    const ownerless = [...deps.registry].map(
      ([name, table]) => [name, { ...table, direction: null }] as const,
    );
    // An end that seems to have no rows is filled.
    return {
      ...{ ...deps, registry: new Map(ownerless) },
      tables: changed(deps.tables, { count: async () => 0 }),
    };
  },
};

/** The dependencies with another way to write. */
function writing(deps: SyncDeps, change: (write: WriteTable) => WriteTable): SyncDeps {
  return { ...deps, documents: withWrites(deps.documents, change) };
}
