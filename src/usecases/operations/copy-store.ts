// Fills an empty store with everything of another one, of whatever kind, and compares each item of both. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type { CopyCounts, CopyJob, EmptyStore, IsKept } from "../../ports/copies/store-copies.ts";
import type { Dump, DumpedPart } from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { ItemProgress } from "./copy-progress.ts";
import { DumpDigests } from "./dump-digests.ts";

interface CopyStore {
  readonly target: EmptyStore;
  readonly mac: Mac;
  /** Absent: all are. */
  readonly isKept?: IsKept;
}

/**
 * Writes everything of a dump, and reads it back. The target is to be finished then, or given up. Throws
 * `store_unavailable`, also when the copy is not equal, what the dump throws, and the reason to stop.
 */
export async function copyStore(
  { about, parts }: Dump,
  { target, mac, isKept = () => true }: CopyStore,
  job: CopyJob,
): Promise<CopyCounts> {
  // To be written, and to be compared.
  const progress = new ItemProgress(job, about.items, 2);
  await target.begin(about);
  const isSameKind = target.kind === about.store;
  const written = new DumpDigests(mac, { withRest: isSameKind });
  for await (const whole of parts) {
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

/** Those that are not kept are no part of the copy. */
function withoutDocuments(part: DumpedPart, isKept: IsKept): DumpedPart {
  if (part.of !== "documents") return part;
  return { ...part, items: part.items.filter((doc) => isKept(part.name, doc)) };
}
