// Writes of a batch of lookups in one message.
import { type ClientSession, type Db, type Document, MongoServerError } from "mongodb";
import { LEDGER } from "./ledger-documents.ts";

/** One write to one document. */
export interface LedgerWrite {
  /** The document in the state that it has to be in. */
  readonly q: Document;
  /** How it changes, or what takes its place. */
  readonly u: Document;
  /** It must not be there yet. */
  readonly isNew?: boolean;
}

/** What came of writes. */
export interface LedgerWritten {
  /** Whether every document was in the state that it had to be in. Else the transaction has to be given up. */
  readonly areAllDone: boolean;
  /** The election of the primary that took them, as hexadecimal text; null where none is told. */
  readonly electionId: string | null;
}

interface Reply {
  readonly n: number;
  readonly upserted?: readonly unknown[];
  readonly writeErrors?: readonly { readonly code: number; readonly errmsg: string }[];
  readonly electionId?: { toHexString(): string };
}

/** Makes one or more writes, within a transaction. Throws `MongoServerError` for a write that the server refuses. */
export async function writeLedger(
  db: Db,
  writes: readonly LedgerWrite[],
  session: ClientSession,
): Promise<LedgerWritten> {
  const updates = writes.map(({ q, u, isNew = false }) => ({ q, u, upsert: isNew }));
  const reply = (await db.command({ update: LEDGER.name, updates }, { session })) as Reply;
  const { n, upserted = [], writeErrors = [], electionId } = reply;
  const [refused] = writeErrors;
  if (refused !== undefined) {
    throw new MongoServerError({ message: refused.errmsg, code: refused.code });
  }
  const news = writes.filter(({ isNew }) => isNew).length;
  return {
    areAllDone: n === writes.length && upserted.length === news,
    electionId: electionId?.toHexString() ?? null,
  };
}
