// What a run learns of a table before it moves it, asked once for all its directions: the remote's handshake, and what
// the two registries mean for the run. D-7.3.
import { AppError } from "../../../domain/shared/errors.ts";
import {
  compareSchemas,
  type SchemaDifferences,
  unknownFieldProblem,
} from "../../../domain/sync/run/compare-schemas.ts";
import {
  addedColumns,
  columnsNow,
  type KnownColumns,
  unfetchedColumns,
  unsentColumns,
} from "../../../domain/sync/run/known-columns.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { TableMemory } from "../../../domain/sync/run/remote-memory.ts";
import { compareDirections, type OwnerProblem } from "../../../domain/sync/run/table-owner.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SyncExtension } from "../../../domain/sync/table/table-schema.ts";
import type { DeletedReply } from "../../../ports/tables/remote-peer.ts";
import { RemoteCalls } from "../shared/call-remote.ts";
import { type Handshake, hasExtension, readFirstRecord, shakeHands } from "../shared/handshake.ts";
import type { RemoteTable, RunContext } from "../shared/run-context.ts";
import { otherRemoteText, TransferMemory } from "./transfer-memory.ts";

export interface Meeting {
  readonly table: Table;
  readonly handshake: Handshake;
  /** The mark of the remote's late rows that the handshake asked with. */
  readonly lateAfter: string | null;
  /** Why the table cannot be pushed; null when it can. */
  readonly pushProblem: AppError | null;
  /** Why nothing of the table moves, by what both registries say of its owner; null when it does. D-11.9. */
  readonly ownerProblem: OwnerProblem | null;
  readonly warnings: readonly string[];
  /** The columns that take part. */
  readonly columns: KnownColumns;
  readonly readAhead: DeletesReadAhead;
}

/** A page of the remote's tombstones that the first direction of a run has read for the second one. */
export class DeletesReadAhead {
  #cursor: string | null = null;
  #page: DeletedReply | null = null;

  keep(cursor: string | null, page: DeletedReply): void {
    this.#cursor = cursor;
    this.#page = page;
  }

  /** The page behind a place, once; null when that is not the one that was kept. */
  take(cursor: string | null): DeletedReply | null {
    const page = this.#cursor === cursor ? this.#page : null;
    this.#page = null;
    return page;
  }
}

/** Asks the remote about a table. Throws `sync_failed` when it cannot move in any direction. */
export async function meetRemote(run: RunContext, table: Table): Promise<Meeting> {
  const [direction = "push"] = run.directions;
  const calls = new RemoteCalls(run.deps, run.stop, (retry) =>
    run.publish({ type: "retry", table: table.name, direction, ...retry }),
  );
  const { pull } = await run.deps.memory.read(table.name);
  const lateAfter = run.isFull ? null : (pull.lateMark ?? null);
  const handshake = await shakeHands({ run, table, calls }, lateAfter);
  const memory = await TransferMemory.read(run, table, handshake);
  const { problem, pushProblem, leftOut, ...differences } = differencesOf(table, handshake);
  if (problem !== null) throw problem;
  const directions = compareDirections(table, handshake.schema, run.deps.deploymentId);
  const others = memory.isOther ? [otherRemoteText(table)] : [];
  const warnings = [...others, ...differences.warnings, ...directions.warnings];
  const columns = columnsNow(table, leftOut);
  const readAhead = new DeletesReadAhead();
  const problems = { pushProblem, ownerProblem: directions.problem };
  return { table, handshake, lateAfter, ...problems, warnings, columns, readAhead };
}

/** Throws `sync_failed` when rows cannot be compared with the remote's, or, to be pushed, cannot be sent there. */
export async function requireComparable(
  source: RemoteTable,
  handshake: Handshake,
  isPushed: boolean,
): Promise<void> {
  const isLookedAt = isPushed && handshake.schema === null;
  const firstRecord = isLookedAt ? await readFirstRecord(source) : null;
  const differences = differencesOf(source.table, { ...handshake, firstRecord });
  const problem = differences.problem ?? (isPushed ? differences.pushProblem : null);
  if (problem !== null) throw problem;
}

/** How the registries of both ends differ; of a remote that does not tell, what one of its rows shows. */
function differencesOf(
  table: Table,
  { schema, firstRecord }: Handshake,
): Omit<SchemaDifferences, "lagSeconds"> {
  if (schema !== null) return compareSchemas(table, schema);
  const pushProblem = firstRecord === null ? null : unknownFieldProblem(table, firstRecord);
  return { problem: null, pushProblem, leftOut: [], warnings: [] };
}

/** What the runs before have kept of the columns of a table. */
export interface ColumnHistory {
  /** Columns that are to be moved for all rows: they took no part in the last run in the direction. */
  readonly added: readonly string[];
  /** Columns in which a null of the remote says nothing: they are added, or what is here never went there. */
  readonly silent: readonly string[];
  /** Why a push would empty columns of the remote; null when it would not. */
  readonly pushProblem: AppError | null;
}

export function columnHistory(
  { table, columns }: Pick<Meeting, "table" | "columns">,
  direction: SyncDirection,
  memory: TableMemory,
): ColumnHistory {
  const then = (of: SyncDirection) => memory[of].columns;
  // Whoever owns the rows has nothing to fetch. D-11.9.
  const isOwner = table.direction === "push";
  const unfetched = isOwner ? [] : unfetchedColumns(then("pull"), columns);
  const added = addedColumns(then(direction), columns);
  const unsent = unsentColumns(then("push"), columns);
  const names = unfetched.map((name) => `"${name}"`).join(", ");
  const text = `Columns of "${table.name}" are new here, and a push would empty them at the remote: ${names}`;
  const hint = "Pull the table first, or run both";
  return {
    added,
    silent: [...added, ...unsent],
    pushProblem: unfetched.length === 0 ? null : new AppError("sync_failed", text, { hint }),
  };
}

const LACKS: readonly (readonly [SyncExtension, string])[] = [
  ["conflict-newer", "newer rows there are looked for before each push"],
  ["schema", "registries are not compared and late rows there not noticed"],
  ["deletes", "deletes do not travel"],
];

/** What cannot be had from a remote without the extensions of this service; null when it has them. D-7.2. */
export function lacksText(handshake: Handshake): string | null {
  const lacks = LACKS.filter(([name]) => !hasExtension(handshake, name)).map(([, text]) => text);
  if (lacks.length === 0) return null;
  return `The remote does not know all that this service does: ${lacks.join("; ")}`;
}
