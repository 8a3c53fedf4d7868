// The product's run over a store that moves the marker before it writes the rows, kept as a control.
import { StartedRun } from "../../../src/usecases/sync/runs/start-run.ts";
import { type StartWorldRun, worldRequest } from "../world.ts";

/** Starts a run whose page and marker are two commits, the marker first. */
export const startMarkerFirstRun: StartWorldRun = (world, process) => {
  const deps = world.makeDeps(process);
  const { tables, markers: store } = deps;
  const write: typeof tables.write = async (table, writes, options) => {
    const nothing = { failures: [], kept: [], changed: 0, deleted: 0 };
    const markers = options?.beforeCommit?.(nothing)?.markers ?? new Map();
    if (markers.size > 0) await store.writeAll(markers);
    return tables.write(table, writes);
  };
  return new StartedRun({ ...deps, tables: { ...tables, write } }, worldRequest(world));
};
