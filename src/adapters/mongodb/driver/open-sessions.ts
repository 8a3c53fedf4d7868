// What instances leave open: a transaction of an instance that was killed keeps what it wrote for up to a minute. So
// ledgers have a lasting session, whose name stands wherever its transactions may be in others' way.
import { type ClientSession, type Db, type MongoClient, UUID } from "mongodb";
import { ledgerOf, USAGES } from "./ledger-documents.ts";

/** As far as it matters here. */
interface ChargedDocument {
  readonly _id: string;
  readonly charges: readonly { readonly instance: string }[];
}

/** A conflict that lasts for so many tries, about a second, is not with an instance that goes on. */
const PATIENT_TRIES = 8;

/** Commands of a transaction follow one another within milliseconds, on a very busy machine within a second. */
const DEAD_AFTER_MICROS = 5_000_000;

/** Now and then true of work that has failed so often. */
export function isPatienceOver(tries: number): boolean {
  return tries > 0 && tries % PATIENT_TRIES === 0;
}

/** What names a session in documents. */
export function nameOfSession({ id }: ClientSession): string {
  if (id === undefined) throw new Error("A session of our own has an id");
  return id.id.toUUID().toHexString();
}

/**
 * Ends the transactions of this program that have had no command for so long that their instances are gone, or stand
 * still: those find them ended and run them again. Sees those of its own user only, and needs no other rights.
 */
export async function endDeadTransactions(client: MongoClient): Promise<void> {
  const isDead = {
    appName: client.options.appName,
    "transaction.timeInactiveMicros": { $gt: DEAD_AFTER_MICROS },
  };
  const stages = [{ $currentOp: { idleSessions: true } }, { $match: isDead }];
  const admin = client.db("admin");
  const dead = await admin.aggregate<{ readonly lsid: { readonly id: UUID } }>(stages).toArray();
  await killSessions(
    admin,
    dead.map(({ lsid }) => lsid.id),
  );
}

/**
 * Ends whatever sessions of these names have open. An instance that lives runs its transaction again. Needs the rights of
 * the user that they belong to.
 */
export async function endSessions(db: Db, names: readonly string[]): Promise<void> {
  const ids = names.filter((name) => UUID.isValid(name)).map((name) => new UUID(name));
  await killSessions(db.admin(), ids);
}

/**
 * For a transaction that meets what ledgers write and has failed so often: now and then ends what all ledgers but those
 * in its own session have open. Each is named by a count that it made before it wrote anything else.
 */
export async function endSessionsInTheWay(
  db: Db,
  { tries, session }: { readonly tries: number; readonly session: ClientSession },
): Promise<void> {
  if (!isPatienceOver(tries)) return;
  const usages = ledgerOf<ChargedDocument>(db);
  const names = await usages.distinct("charges.instance", { _id: USAGES.ids });
  const own = nameOfSession(session);
  await endSessions(
    db,
    names.filter((name) => name !== own),
  );
}

async function killSessions(admin: Pick<Db, "command">, ids: readonly UUID[]): Promise<void> {
  // None would mean all of the user's.
  if (ids.length > 0) await admin.command({ killSessions: ids.map((id) => ({ id })) });
}
