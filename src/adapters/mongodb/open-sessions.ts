// What instances leave open: a transaction of an instance that was killed keeps what it wrote for up to a minute. So
// ledgers have a lasting session, whose name stands wherever its transactions may be in others' way.
import { type ClientSession, type Db, UUID } from "mongodb";
import { USAGE, type UsageDocument } from "./account-usage.ts";

/** A conflict that lasts for so many tries, about a second, is not with an instance that goes on. */
const PATIENT_TRIES = 8;

/** What names a session in documents. */
export function nameOfSession({ id }: ClientSession): string {
  if (id === undefined) throw new Error("A session of our own has an id");
  return id.id.toUUID().toHexString();
}

/**
 * Ends whatever sessions of these names have open. An instance that lives runs its transaction again. Needs the rights of
 * the user that they belong to.
 */
export async function endSessions(db: Db, names: readonly string[]): Promise<void> {
  const killSessions = names
    .filter((name) => UUID.isValid(name))
    .map((id) => ({ id: new UUID(id) }));
  // None would mean all of the user's.
  if (killSessions.length > 0) await db.admin().command({ killSessions });
}

/**
 * For a transaction that meets what ledgers write and has failed so often: now and then ends what all ledgers but those
 * in its own session have open. Each is named by a count that it made before it wrote anything else.
 */
export async function endSessionsInTheWay(
  db: Db,
  { tries, session }: { readonly tries: number; readonly session: ClientSession },
): Promise<void> {
  if (tries === 0 || tries % PATIENT_TRIES !== 0) return;
  const names = await db.collection<UsageDocument>(USAGE.name).distinct("charges.instance");
  const own = nameOfSession(session);
  await endSessions(
    db,
    names.filter((name) => name !== own),
  );
}
