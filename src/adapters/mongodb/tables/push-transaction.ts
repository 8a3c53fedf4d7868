// One push as one transaction. A record that the server refuses ends the whole transaction, so what may be refused is
// checked before, and what is refused still is found by tries that are taken back.
import { type ClientSession, type Db, type Document, MongoServerError } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { WriteFailure } from "../../../ports/tables/table-store.ts";
import { isPassing } from "../driver/errors.ts";
import type { IdRange } from "../driver/id-counters.ts";
import type { TableVersions } from "../driver/table-versions.ts";
import { commitTransaction, type TransactionScope, tryTransaction } from "../driver/transaction.ts";
import { setMarkers } from "../runs/marker-store.ts";
import { type Statement, splitCommands } from "./write-statements.ts";

/** What the server may refuse a row for, by its code. The texts that it gives itself hold values of rows. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [121, "The row does not pass the validator of the MongoDB collection"],
  [10334, "The row is larger than the 16 MiB that MongoDB can store"],
  [11000, "Another row has the same value in a unique index of the MongoDB collection"],
  [17419, "The row is larger than the 16 MiB that MongoDB can store"],
]);
/** Codes that a statement may get though it is not its record that is at fault. */
const BATCH_PROBLEMS: ReadonlySet<number> = new Set([
  13, // Unauthorized
  146, // ExceededMemoryLimit
  290, // TransactionExceededLifetimeLimitSeconds
  388, // TransactionTooLargeForCache
  14031, // OutOfDiskSpace
]);
/** Updates by `_id` in one command; MongoDB takes 100,000. */
const RENUMBERED_PER_COMMAND = 10_000;

/** Statements sent first behind a refused one, then twice as many each time: the next refused one may be near. */
const FIRST_TRIED = 8;

/** What a push works with. */
export interface PushParts extends TransactionScope {
  readonly db: Db;
  readonly versions: TableVersions;
  readonly tableName: string;
  /** Numbers for new rows, one per record; null for a table that is not numbered. */
  readonly ids: IdRange | null;
  /** Set in the same commit. */
  readonly markers: ReadonlyMap<string, string>;
  /** Throws when the push may no longer be done. */
  readonly beforeCommit: () => void;
  /** Whether statements take effect one after the other. */
  readonly ordered: boolean;
  /** Whether all keys are likely to be new: then plain inserts are tried first, at a quarter of the time. */
  readonly expectsNewKeys: boolean;
  /** Slot of the table's version that no other push of this instance uses. */
  readonly slot: number;
}

/** What a push did. */
export interface PushOutcome {
  readonly insertedRows: number;
  readonly failures: readonly WriteFailure[];
}

/** A statement that the server refused for good; its transaction is over. */
class RefusedStatement extends Error {
  readonly statement: Statement;
  readonly code: number;

  constructor(statement: Statement, code: number) {
    super(`Statement refused with code ${code}`);
    this.statement = statement;
    this.code = code;
  }
}

interface InsertedRow {
  readonly statement: Statement;
  readonly _id: unknown;
}

/** Writes the statements of one push. */
export class PushTransaction {
  readonly #parts: PushParts;

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /**
   * Commits the markers and all statements but the refused ones. Throws `AppError`, and driver errors after which
   * nothing was written.
   */
  async commit(all: readonly Statement[]): Promise<PushOutcome> {
    const failures: WriteFailure[] = [];
    let statements = all;
    if (this.#parts.expectsNewKeys && all.length > 0) {
      const outcome = await orRefusal(this.#insertAll(all));
      if (!(outcome instanceof RefusedStatement)) return { insertedRows: all.length, failures };
    }
    while (statements.length > 0 || this.#parts.markers.size > 0) {
      const outcome = await orRefusal(this.#commitAll(statements));
      if (!(outcome instanceof RefusedStatement)) return { insertedRows: outcome, failures };
      const found = await this.#findRefused(statements, outcome);
      failures.push(...found.map(failureOf));
      const refused = new Set(found.map(({ statement }) => statement));
      statements = statements.filter((statement) => !refused.has(statement));
    }
    return { insertedRows: 0, failures };
  }

  /** Commits the statements' rows as new ones, with the markers. Any key that is there already is a refusal. */
  #insertAll(statements: readonly Statement[]): Promise<void> {
    const { db, tableName, markers, beforeCommit, versions, slot } = this.#parts;
    return commitTransaction(this.#parts, async (session) => {
      for (const command of splitCommands(statements)) {
        const documents = command.map(({ document }) => document);
        const insert = { insert: tableName, documents, ordered: false };
        throwRefusal(command, await db.command(insert, { session }));
      }
      await versions.raise({ tableName, slot, session });
      await setMarkers(db, { markers, session });
      beforeCommit();
    });
  }

  /** Commits the statements, with the markers, and returns the number of new rows. */
  #commitAll(statements: readonly Statement[]): Promise<number> {
    const { db, tableName, markers, beforeCommit, versions, slot } = this.#parts;
    return commitTransaction(this.#parts, async (session) => {
      const { inserted, changedRows } = await this.#send(statements, session);
      await this.#closeGaps(inserted, session);
      if (inserted.length + changedRows > 0) await versions.raise({ tableName, slot, session });
      await setMarkers(db, { markers, session });
      beforeCommit();
      return inserted.length;
    });
  }

  /**
   * Every statement from the first refused one on that the server refuses. A try ends at the first, the next one goes
   * on behind it, so each statement is sent about once. What is refused only together with others shows when the rest
   * is committed.
   */
  async #findRefused(
    statements: readonly Statement[],
    first: RefusedStatement,
  ): Promise<RefusedStatement[]> {
    const found = [first];
    let next = statements.indexOf(first.statement) + 1;
    while (!this.#parts.deadline.isOver()) {
      const rest = statements.slice(next);
      const outcome = await orRefusal(this.#tryAll(rest));
      if (!(outcome instanceof RefusedStatement)) return found;
      found.push(outcome);
      next += rest.indexOf(outcome.statement) + 1;
    }
    const message = `MongoDB refused more records than could be found in time: ${found.length} until then`;
    throw new AppError("commit_failed", message, { cause: first });
  }

  /** Sends the statements and takes them back. */
  #tryAll(statements: readonly Statement[]): Promise<void> {
    return tryTransaction(this.#parts, async (session) => {
      let count = FIRST_TRIED;
      for (let i = 0; i < statements.length; i += count / 2) {
        await this.#send(statements.slice(i, i + count), session);
        count *= 2;
      }
    });
  }

  /** Sends statements as part of a transaction. */
  async #send(
    statements: readonly Statement[],
    session: ClientSession,
  ): Promise<{ inserted: InsertedRow[]; changedRows: number }> {
    const { db, tableName, ordered } = this.#parts;
    const inserted: InsertedRow[] = [];
    let changedRows = 0;
    for (const command of splitCommands(statements)) {
      const updates = command.map(({ body }) => body);
      const reply = await db.command({ update: tableName, updates, ordered }, { session });
      throwRefusal(command, reply);
      changedRows += Number(reply["nModified"]);
      for (const { index, _id } of (reply["upserted"] ?? []) as Document[]) {
        const statement = command[index];
        if (statement !== undefined) inserted.push({ statement, _id });
      }
    }
    return { inserted, changedRows };
  }

  /** Numbers new rows one after the other where records between them changed rows that were there. */
  async #closeGaps(inserted: readonly InsertedRow[], session: ClientSession): Promise<void> {
    const { db, tableName, ids } = this.#parts;
    if (ids === null) return;
    const updates = inserted
      .toSorted((a, b) => a.statement.place - b.statement.place)
      .map(({ statement, _id }, rank) => ({ _id, rank, isRight: statement.place === rank }))
      .filter(({ isRight }) => !isRight)
      .map(({ _id, rank }) => ({ q: { _id }, u: { $set: { id: ids.first.add(rank) } } }));
    for (let i = 0; i < updates.length; i += RENUMBERED_PER_COMMAND) {
      const some = updates.slice(i, i + RENUMBERED_PER_COMMAND);
      await db.command({ update: tableName, updates: some, ordered: false }, { session });
    }
  }
}

/** Throws for the statement that ended the transaction, if one did. */
function throwRefusal(command: readonly Statement[], reply: Document): void {
  const [error] = (reply["writeErrors"] ?? []) as Document[];
  if (error === undefined) return;
  const statement = command[error["index"]];
  const code = Number(error["code"]);
  const serverError = new MongoServerError({ ...error, message: "Statement failed" });
  if (statement === undefined || BATCH_PROBLEMS.has(code) || isPassing(serverError)) {
    throw serverError;
  }
  throw new RefusedStatement(statement, code);
}

async function orRefusal<T>(work: Promise<T>): Promise<T | RefusedStatement> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusedStatement) return error;
    throw error;
  }
}

function failureOf({ statement, code }: RefusedStatement): WriteFailure {
  const message = REFUSALS.get(code) ?? `MongoDB refused the row: error ${code}`;
  return { index: statement.index, message };
}
