// What a run learns of the remote before the first row: its clock, what it can do, and how it has the table. D-7.2 to D-7.4.
import { REFUSALS } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import type { SyncExtension, TableSchema } from "../../../domain/sync/table/table-schema.ts";
import type { RemoteTable } from "./run-context.ts";
import { requireOther } from "./sync-deps.ts";

export interface Clocks {
  /** The remote's `server_time` as received. */
  readonly remoteText: string;
  /** The same, canonical. */
  readonly remoteTime: string;
  readonly ownTime: string;
}

export interface Handshake {
  readonly clocks: Clocks;
  readonly extensions: ReadonlySet<string>;
  /** The id of its deployment; null of a remote that tells none. */
  readonly remoteId: string | null;
  /** How the remote has the table, and its late rows since a mark; null of a remote without `schema`. */
  readonly schema: TableSchema | null;
  /** Rows that the remote has of the table; null when it does not know. */
  readonly countThere: number | null;
  /**
   * A row of a remote that tells no schema; null when it has none, and where nothing is to be pushed.
   */
  readonly firstRecord: JsonObject | null;
}

/**
 * Asks the remote; `lateAfter` is the mark of its late rows that was kept last, null for none. Throws `sync_misconfigured`
 * when it is this deployment, `sync_failed` when it will not take part, `remote_invalid` when its clock cannot be read.
 */
export async function shakeHands(
  source: RemoteTable,
  lateAfter: string | null,
): Promise<Handshake> {
  const { run, table, calls } = source;
  const { peer } = run.remote;
  const ownTime = formatMs(run.deps.clock.nowMs());
  const status = await calls.call((signal) => peer.readStatus({ signal }));
  requireOther(run.deps, status, run.remote);
  if (!status.syncEnabled) {
    const text = `The remote has sync disabled: ${run.remote.address}`;
    throw new AppError("sync_failed", text, { hint: REFUSALS.sync_disabled.hint });
  }
  const remoteText = status.serverTime;
  const remoteTime = parseDateTime(remoteText);
  if (remoteTime === null) {
    const text = `The remote's server_time is not a date and time: "${remoteText}"`;
    throw new AppError("remote_invalid", text);
  }
  const extensions = new Set(status.extensions);
  const clocks = { remoteText, remoteTime, ownTime };
  const remoteId = status.deploymentId ?? null;
  const count = status.tableCounts[table.name] ?? -1;
  const countThere = count < 0 ? null : count;
  if (!hasExtension({ extensions }, "schema")) {
    const firstRecord = run.directions.includes("push") ? await readFirstRecord(source) : null;
    return { clocks, extensions, remoteId, schema: null, countThere, firstRecord };
  }
  const asked = lateAfter === null ? {} : { lateAfter };
  const schema = await calls.call((signal) => peer.readSchema(table.name, { signal, ...asked }));
  return { clocks, extensions, remoteId, schema, countThere, firstRecord: null };
}

/** One row of the remote's table; null when it has none. */
export async function readFirstRecord({
  run,
  table,
  calls,
}: RemoteTable): Promise<JsonObject | null> {
  const { page } = await calls.call((signal) =>
    run.remote.peer.pullPage(table.name, { since: null, offset: 0, limit: 1, signal }),
  );
  return page.records[0] ?? null;
}

export function hasExtension(
  { extensions }: Pick<Handshake, "extensions">,
  name: SyncExtension,
): boolean {
  return extensions.has(name);
}
