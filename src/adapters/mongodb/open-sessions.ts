// What instances leave open: a transaction of an instance that was killed keeps what it wrote for up to a minute. So
// ledgers have a lasting session, whose name stands wherever its transactions may be in others' way.
import { type ClientSession, type Db, UUID } from "mongodb";

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
