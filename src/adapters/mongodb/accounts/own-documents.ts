// Documents of repositories that commits of accounts and lookups change, until these are repositories too.
import type { ClientSession, Db, Document } from "mongodb";
import { attemptsOf } from "../../../domain/reputation/accounts/attempts.ts";
import { conditionOf, keyDocument } from "../documents/key-document.ts";
import { COMMITTED } from "../driver/operations.ts";

export const SECRETS = { name: "repsync_secrets" };
export const SESSIONS = { name: "repsync_sessions" };
const SIGN_INS = { name: "repsync_sign_ins" };

const FIRST_LOOKUP = { name: "first_lookup", secret: "answered" };

export async function hadFirstLookup(db: Db): Promise<boolean> {
  const isIt = { name: FIRST_LOOKUP.name };
  return (await db.collection(SECRETS.name).findOne(isIt, COMMITTED)) !== null;
}

/** Within a transaction. */
export async function noteFirstLookup(db: Db, tx: ClientSession): Promise<void> {
  const isIt: Document = { _id: keyDocument([FIRST_LOOKUP.name]) };
  const options = { upsert: true, session: tx };
  await db.collection(SECRETS.name).updateOne(isIt, { $setOnInsert: FIRST_LOOKUP }, options);
}

/** Ends the sessions of an account but one, or all of them, within the caller's transaction. */
export async function endSessionsOf(
  db: Db,
  username: string,
  tx: ClientSession,
  keptId: string | null = null,
): Promise<void> {
  const isOther = keptId === null ? {} : { id: { $ne: keptId } };
  const ofAccount = conditionOf("_id", { within: [[username]] }) ?? {};
  await db.collection(SESSIONS.name).deleteMany({ ...ofAccount, ...isOther }, { session: tx });
}

/** Removes what is counted of an account, in the caller's transaction. */
export async function forgetAttempts(db: Db, username: string, tx: ClientSession): Promise<void> {
  const { keys, beginning } = attemptsOf(username);
  const isOfAccount = conditionOf("_id", { within: [...keys, beginning] }) ?? {};
  await db.collection(SIGN_INS.name).deleteMany(isOfAccount, { session: tx });
}
