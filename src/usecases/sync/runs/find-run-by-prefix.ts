import { AppError } from "../../../domain/shared/errors.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import type { RunItem } from "./run-item.ts";
import { findRun } from "./sync-lists.ts";

/** A shorter beginning of an id would be guessing. */
export const MIN_PREFIX_CHARS = 4;
/** Runs that are looked through with one read. */
const PART_RUNS = 200;
/** Runs that are named when several have the same beginning. */
const MAX_NAMED_RUNS = 10;

/**
 * The run with an id that begins so: one that is kept, or by its whole id a dry run that goes on. Throws `not_found`, and
 * `invalid_request` for fewer than `MIN_PREFIX_CHARS` characters and where several ids begin so. D-10.13.
 */
export async function findRunByPrefix(deps: SyncDeps, idOrPrefix: string): Promise<RunItem> {
  if ((await deps.runs.find(idOrPrefix)) !== null) return findRun(deps, idOrPrefix);
  if (idOrPrefix.length < MIN_PREFIX_CHARS) {
    throw new AppError(
      "invalid_request",
      `"${idOrPrefix}" is too short for the beginning of an id: give ${MIN_PREFIX_CHARS} characters at least`,
    );
  }
  const [id, ...others] = await idsThatBegin(deps, idOrPrefix);
  if (id === undefined) return findRun(deps, idOrPrefix);
  if (others.length === 0) return findRun(deps, id);
  const named = [id, ...others].slice(0, MAX_NAMED_RUNS);
  const more = others.length + 1 - named.length;
  throw new AppError(
    "invalid_request",
    `Several runs have an id that begins with "${idOrPrefix}": ${named.join(", ")}` +
      (more > 0 ? ` and ${more} more` : ""),
  );
}

/** Newest first. */
async function idsThatBegin({ runs }: SyncDeps, prefix: string): Promise<string[]> {
  const found: string[] = [];
  let beforeId: string | null = null;
  for (;;) {
    const part: readonly { readonly runId: string }[] = await runs.list({
      limit: PART_RUNS,
      beforeId,
    });
    found.push(...part.map(({ runId }) => runId).filter((id) => id.startsWith(prefix)));
    beforeId = part.at(-1)?.runId ?? null;
    if (part.length < PART_RUNS) return found;
  }
}
