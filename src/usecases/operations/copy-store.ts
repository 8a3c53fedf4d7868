// Fills an empty store with everything of another one, of whatever kind, and compares each item of both. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type { CopyCounts, CopyJob, EmptyStore, IsKept } from "../../ports/copies/store-copies.ts";
import {
  type Dump,
  type DumpedPart,
  type DumpedSource,
  type DumpedStore,
  tableOf,
} from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { toldCommit } from "../../repositories/late-rows.ts";
import { LATE_ROWS } from "../../repositories/run-collections.ts";
import { ItemProgress } from "./copy-progress.ts";
import { DumpDigests } from "./dump-digests.ts";

interface CopyStore {
  readonly target: EmptyStore;
  readonly mac: Mac;
  /** Absent: all are. */
  readonly isKept?: IsKept;
}

/** Rows that are named of those which the target cannot hold. */
const MOST_NAMED = 20;

/**
 * Writes everything of a source, and reads it back. The target is to be finished then, or given up. Throws `conflict`, before
 * anything is written, that names what the target cannot hold; `store_unavailable`, also when the copy is not equal, what
 * the dump throws, and the reason to stop.
 */
export async function copyStore(
  source: DumpedSource,
  { target, mac, isKept = () => true }: CopyStore,
  job: CopyJob,
): Promise<CopyCounts> {
  if (target.refusals !== undefined) await refuseUnheld(source, target, job);
  const { about, parts } = await source.dump({ isStill: true });
  // To be written, and to be compared.
  const progress = new ItemProgress(job, about.items, 2);
  await target.begin(about);
  const isSameKind = target.kind === about.store;
  const written = new DumpDigests(mac, { withRest: isSameKind });
  for await (const whole of withTold(about, parts)) {
    const part = withoutDocuments(whole, isKept);
    written.add(part);
    await target.write(part);
    progress.add(part.items.length);
  }
  const read = new DumpDigests(mac, { withRest: isSameKind });
  for await (const part of (await target.dump()).parts) {
    read.add(part);
    progress.add(part.items.length);
  }
  const other = written.differenceFrom(read);
  if (other !== null) {
    const text = `The new store does not hold what was written to it: ${other}`;
    throw new AppError("store_unavailable", text);
  }
  return written.counts(about);
}

/** The parts, and a document for each time that the source tells beside its documents. D-12.3. */
async function* withTold(
  { tables }: DumpedStore,
  parts: Dump["parts"],
): AsyncGenerator<DumpedPart> {
  const items = tables.flatMap(({ name, told }) =>
    told === undefined ? [] : [toldCommit(name, told)],
  );
  if (items.length > 0) yield { of: "documents", name: LATE_ROWS.name, items };
  yield* parts;
}

/** D-12.5. */
async function refuseUnheld(
  source: DumpedSource,
  target: EmptyStore,
  { stop }: CopyJob,
): Promise<void> {
  const { about, parts } = await source.dump({ isStill: true });
  const tables = new Map(about.tables.map((dumped) => [dumped.name, tableOf(dumped)]));
  const named: string[] = [];
  let unheld = 0;
  for await (const part of parts) {
    stop?.throwIfAborted();
    const table = tables.get(part.name);
    if (part.of === "documents" || table === undefined) continue;
    for (const item of part.items) {
      const row = "row" in item ? item.row : item.key;
      const refusals = target.refusals?.(table, row) ?? [];
      if (refusals.length === 0) continue;
      unheld++;
      if (named.length === MOST_NAMED) continue;
      const key = JSON.stringify(table.keyColumns.map(({ name }) => row[name] ?? null));
      const what = "row" in item ? "row" : "the tombstone";
      named.push(`table "${part.name}", ${what} ${key}: ${refusals.join("; ")}`);
    }
  }
  if (unheld === 0) return;
  if (unheld > named.length) named.push(`and ${unheld - named.length} more`);
  const problems = named.map((detail) => ({ pointer: "", detail }));
  throw new AppError("conflict", "The new store cannot hold some of the rows", { problems });
}

/** Those that are not kept are no part of the copy. */
function withoutDocuments(part: DumpedPart, isKept: IsKept): DumpedPart {
  if (part.of !== "documents") return part;
  return { ...part, items: part.items.filter((doc) => isKept(part.name, doc)) };
}
