// The product's run over a store that moves the marker before it writes the rows, kept as a control.
import type { DocumentStore } from "../../../src/ports/documents.ts";
import { MEMORY } from "../../../src/repositories/run-collections.ts";
import { StartedRun } from "../../../src/usecases/sync/runs/start-run.ts";
import { changed, withTransactions } from "../../support/rows/changed-writes.ts";
import { type StartWorldRun, worldRequest } from "../world.ts";

/** Starts a run whose page and marker are two commits, the marker first. */
export const startMarkerFirstRun: StartWorldRun = (world, process) => {
  const deps = world.makeDeps(process);
  return new StartedRun({ ...deps, documents: markerFirst(deps.documents) }, worldRequest(world));
};

function markerFirst(documents: DocumentStore): DocumentStore {
  const withoutRows = withTransactions(documents, (tx) => {
    const written = { failures: [], kept: [], changed: 0, deleted: 0, visibleMs: 0 };
    const nothing = { ...written, earliestChanged: null, earliestKept: null };
    return changed(tx, { tables: changed(tx.tables, { write: async () => nothing }) });
  });
  const withoutMarkers = withTransactions(documents, (tx) =>
    changed(tx, { put: (to, doc) => (to.name === MEMORY.name ? undefined : tx.put(to, doc)) }),
  );
  return {
    prepare: (collections) => documents.prepare(collections),
    read: (options, body) => documents.read(options, body),
    async transact(options, body) {
      await withoutRows.transact(options, body);
      return await withoutMarkers.transact(options, body);
    },
  };
}
