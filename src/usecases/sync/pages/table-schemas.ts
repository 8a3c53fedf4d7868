// Tables as this deployment tells its peers of them, and as one to join tells of its own.
import { AppError } from "../../../domain/shared/errors.ts";
import { earliestTime } from "../../../domain/sync/rows/row-time.ts";
import { isBuiltIn, joinedEntry } from "../../../domain/sync/table/registry-entries.ts";
import type { TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import { findTable, type Registry } from "../../../domain/sync/table/table.ts";
import { describeTable } from "../../../domain/sync/table/table-schema.ts";
import type { RemotePeer } from "../../../ports/tables/remote-peer.ts";
import type { LateRows } from "../../../repositories/late-rows.ts";

/** Facts that no schema tells, in words. */
const NEVER_TOLD = [
  'columns that it hides ("serialize": false)',
  'how many rows a run may delete ("max_deletes")',
  'what files are like ("import")',
];

export interface TableSchemaDeps {
  readonly registry: Registry;
  readonly lateRows: LateRows;
  /** The id of the remote; null without a remote, or where none has answered yet. */
  readonly readRemoteId: () => Promise<string | null>;
}

/**
 * Tells a peer how a table is registered here, and its late rows after the peer's mark; without a mark, null or empty, only the
 * present mark. Throws `unknown_table`, `store_unavailable`. D-7.3, D-7.4.
 */
export async function readOwnSchema(
  { registry, lateRows, readRemoteId }: TableSchemaDeps,
  tableName: string,
  lateAfter: string | null,
) {
  const table = findTable(registry, tableName);
  const query = { lateAfter: lateAfter || null, isForOwnPush: false };
  const { mark, from, freshFrom } = await lateRows.read(table, query);
  const late = { mark, from: from === "" ? from : earliestTime([from, freshFrom]) };
  const lagSeconds = lateRows.lagSeconds(table);
  const { conflict } = table;
  return { ...describeTable(table), conflict, lagSeconds, remoteId: await readRemoteId(), late };
}

/**
 * Asks a deployment to join for its status and every schema. Resolves to the entries to register here, by name and without equal
 * built-in tables, and to the facts that are not told, in words. Throws `RemotePeerError`, and `invalid_request` for a remote that
 * tells no schemas. D-14.8.
 */
export async function readJoinedTables(peer: RemotePeer) {
  const { syncEnabled, tables, extensions } = await peer.readStatus();
  if (!syncEnabled) {
    const hint = "Set SYNC_ENABLED=true there";
    throw new AppError("invalid_request", "Synchronization is disabled there", { hint });
  }
  if (!extensions.includes("schema")) {
    const text =
      "It answers, but does not say what its tables are like: another program, or an older repsync";
    const hint = "Upgrade it, or run init without --join and register its tables in tables.json";
    throw new AppError("invalid_request", text, { hint });
  }
  const entries: Record<string, TableEntry> = {};
  const unmeasured: string[] = [];
  for (const name of tables) {
    const schema = await peer.readSchema(name);
    if (isBuiltIn(schema)) continue;
    entries[name] = joinedEntry(schema);
    const columns = Object.values(schema.columns);
    if (columns.some(({ maxLength }) => maxLength === undefined)) unmeasured.push(name);
  }
  const lengths =
    unmeasured.length === 0 ? [] : [`lengths of texts ("max_length") of ${unmeasured.join(", ")}`];
  return { entries, unknown: [...lengths, ...NEVER_TOLD] };
}
