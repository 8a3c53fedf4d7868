// Several messages of one transaction at once. MongoDB takes them one after the other, but does not wait for us between
// them. The first message of a transaction has to be answered before, as it begins it.
import { isPassing } from "./errors.ts";

/**
 * All results. When some fail, throws once all have ended, as a session must not be in use when its work has failed; of
 * several failures the one that the others follow from: they find no transaction any more.
 */
export async function allEnded<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [Place in keyof Work]: Awaited<Work[Place]> }> {
  const ended = await Promise.allSettled(work);
  const failures = ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (failures.length > 0) throw failures.find((error) => !isPassing(error)) ?? failures[0];
  return await Promise.all(work);
}
