// Reads what a deployment that is to be joined has registered. D-14.8.
import { AppError } from "../../../domain/shared/errors.ts";
import { isBuiltIn, joinedEntry } from "../../../domain/sync/table/joined-entry.ts";
import type { TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import type { RemotePeer } from "../../../ports/tables/remote-peer.ts";

export interface JoinedTables {
  /** By name, as they are to be registered here; without the built-in ones that are there as here. */
  readonly entries: Readonly<Record<string, TableEntry>>;
  /** What the deployment does not tell, for people. */
  readonly unknown: readonly string[];
}

/** What no schema says, for people. */
const NEVER_TOLD = [
  'columns that it hides ("serialize": false)',
  'how many rows a run may delete ("max_deletes")',
  'what files are like ("import")',
];

/** Asks for the status and every schema. Throws `RemotePeerError`, and `invalid_request` for a remote that tells no schemas. */
export async function readJoinedTables(peer: RemotePeer): Promise<JoinedTables> {
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
