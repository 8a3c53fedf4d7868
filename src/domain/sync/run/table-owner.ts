// The end that owns a table, where its rows are written, and what that means for a run. D-11.9.
import { AppError } from "../../shared/errors.ts";
import type { Table } from "../table/table.ts";
import type { TableSchema } from "../table/table-schema.ts";
import type { SyncDirection } from "./run.ts";

/** Why a run ends a table before its first row. */
export type OwnerProblem = "no_owner" | "not_pushed" | "not_pulled" | "both_push" | "both_pull";

/** True where neither a time nor the registry says which of two versions of a row stands. */
export function lacksOwner({ timestampColumn, direction }: Table): boolean {
  return timestampColumn === null && direction === null;
}

/** The directions of a run that move a table; a forced run leaves none out. */
export function ownedDirections(
  { direction }: Table,
  directions: readonly SyncDirection[],
  isForced: boolean,
): readonly SyncDirection[] {
  if (direction === null || isForced) return directions;
  return directions.filter((one) => one === direction);
}

/** Why a table that only goes the other way is not moved in this direction. */
export function otherWay(direction: SyncDirection): OwnerProblem {
  return direction === "push" ? "not_pushed" : "not_pulled";
}

/** Compares the owners that both registries name; `ownId` is the id of this deployment. */
export function compareDirections(
  { name, direction }: Table,
  there: TableSchema | null,
  ownId: string | undefined,
): { readonly problem: OwnerProblem | null; readonly warnings: readonly string[] } {
  if (direction === null || there?.direction !== direction) return { problem: null, warnings: [] };
  const isMutual = there.remoteId !== null && there.remoteId === ownId;
  if (isMutual) return { problem: `both_${direction}`, warnings: [] };
  const text =
    `Both ends have "direction": "${direction}" for "${name}", and the remote has another remote than this ` +
    "deployment: see that only one end is written to";
  return { problem: null, warnings: [text] };
}

export function ownerError(problem: OwnerProblem, tables: readonly string[]): AppError {
  const [text, hint] = TEXTS[problem];
  return new AppError("sync_failed", `${text} ${namesOf(tables)}`, { hint });
}

/** So that names, text and hint fit into what a run tells. */
const MAX_NAMES_CHARS = 45;

/** Whole names, one at least, and how many more there are. */
function namesOf(tables: readonly string[]): string {
  let text = "";
  for (const [i, name] of tables.entries()) {
    const longer = i === 0 ? `"${name}"` : `${text}, "${name}"`;
    if (i > 0 && longer.length > MAX_NAMES_CHARS) return `${text} and ${tables.length - i} more`;
    text = longer;
  }
  return text;
}

const TEXTS: Readonly<Record<OwnerProblem, readonly [text: string, hint: string]>> = {
  no_owner: [
    "Without a time nobody can tell which end's row is newer in",
    'Run push or pull, name the owner by "direction", or let repsync keep a time (tables stamp)',
  ],
  not_pushed: [
    'The remote owns the rows ("direction": "pull"), so a push leaves out',
    "Pull, push with force, or change the registry",
  ],
  not_pulled: [
    'This end owns the rows ("direction": "push"), so a pull leaves out',
    "Push, pull with force, or change the registry",
  ],
  both_push: [
    'Both ends say "direction": "push" of',
    'Set "pull" in the registry of the end that does not own the rows',
  ],
  both_pull: [
    'Both ends say "direction": "pull" of',
    'Set "push" in the registry of the end that owns the rows',
  ],
};

/** Throws for a table whose rows the remote owns: the next pull would undo any write here but its own. */
export function requireOwned(
  { name, direction }: Table,
  kind: "conflict" | "invalid_request",
  hint: string,
): void {
  if (direction !== "pull") return;
  const text = `The rows of "${name}" are written at the remote ("direction": "pull" in the registry)`;
  throw new AppError(kind, text, { hint });
}
