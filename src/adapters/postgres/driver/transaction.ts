import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { Connection, Lines, Parameter } from "./bun-driver.ts";
import { Failure, isRefusal } from "./errors.ts";
import { TAKE_TURN, TAKE_TURN_ALONE } from "./schema.ts";
import { literal, type Statement } from "./sql.ts";

/** The begin of a transaction. */
export interface Beginning {
  /** All reads are of the moment of the first statement; otherwise each statement sees what was committed before it. */
  readonly isOneMoment: boolean;
  readonly isReadOnly: boolean;
  /** Shared with others, or alone once those under way have ended; who asks first comes first. Null for a body without a turn. */
  readonly turn: "shared" | "alone" | null;
  /** After which the server ends a statement; 0 for never. */
  readonly statementMs: number;
}

/** The settings of all transactions on a database. */
export interface DatabaseSettings {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Replaces the server's time. */
  readonly storeClock?: Pick<Clock, "nowMs"> | undefined;
  /** True where the server would confirm commits that a crash takes back. */
  readonly raisesDurability?: boolean;
  /** The role's `search_path` where it has other schemas before `pg_catalog`; null where it has not. D-12.2. */
  readonly searchPath?: string | null;
  /** The server's `deadlock_timeout`; absent: a second, as it is unless somebody sets it. */
  readonly deadlockMs?: number;
}

/** The share of the server's `deadlock_timeout`: a statement that began at its end waits no longer than to twice that. */
const LOCK_SHARE = 0.3;
const MAX_LOCK_MS = 500;
/** The server takes 0 for no limit. */
const NO_WAIT_MS = 1;
/** The longest wait for a turn alone: all bodies that begin meanwhile wait behind it. */
const ALONE_MS = 100;
/** After which a connection whose transaction did not begin is a broken one: nothing keeps a server from that for long. */
const BEGIN_MS = 5_000;

/** Settings that the client and the statements rely on. A role or a database may have others. */
const READABLE = [
  `set local timezone = 'UTC'`,
  `set local datestyle = 'ISO, YMD'`,
  `set local bytea_output = 'hex'`,
  `set local extra_float_digits = 1`,
  `set local array_nulls = on`,
  `set local quote_all_identifiers = off`,
];

const NOW = `select floor(extract(epoch from clock_timestamp()) * 1000)::int8`;
/** Another after a crash and at another server, where ids of transactions that left no trace are given anew. */
const LIFE =
  "pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), pg_catalog.pg_stat_get_bgwriter_stat_reset_time())";
const NOW_AND_ID = `${NOW}, pg_current_xact_id()::text, ${LIFE}`;

/** Asks for the fate of a transaction, and the life in which the server is. */
export const READ_STATUS = `select pg_catalog.pg_xact_status($1::pg_catalog.text::pg_catalog.xid8), ${LIFE}`;

/** The id of a transaction at the server, as long as it lives. */
export interface TransactionId {
  readonly id: string;
  readonly life: string;
}

/** A transaction. Statements that are sent without awaiting earlier ones go in one message. */
export class ServerTransaction {
  readonly #connection: Connection;
  readonly #beginning: Beginning;
  readonly #settings: DatabaseSettings;
  /**
   * Milliseconds for which it waits for a lock, and for which it waits for any once it may hold rows that others wait for: less
   * than half of the server's `deadlock_timeout`, so that of a deadlock with another program it is the one that gives up.
   */
  readonly #lockMs: number;
  #started: Promise<void> | null = null;
  #nowMs: number | null = null;
  /** The id by which the server knows its fate; null where nothing is written. */
  id: TransactionId | null = null;
  #isOver = false;
  /** The first statement that failed: those after it fail because of it. */
  failure: Failure | null = null;
  /** The time at which the first row was written, by the clock; null before that. */
  #rowsMs: number | null = null;
  #waits = true;
  #last: readonly Promise<unknown>[] = [];
  /** True from when the commit was sent. */
  isCommitting = false;

  constructor(connection: Connection, beginning: Beginning, settings: DatabaseSettings) {
    this.#connection = connection;
    this.#beginning = beginning;
    this.#settings = settings;
    const { deadlockMs = 1_000 } = settings;
    this.#lockMs = Math.max(1, Math.min(MAX_LOCK_MS, Math.floor(deadlockMs * LOCK_SHARE)));
  }

  /** The server's time at the first statement. */
  get nowMs(): number {
    if (this.#nowMs === null) throw new Error("A body knows the time after its first read");
    return this.#nowMs;
  }

  /** True once rows of tables were written. */
  get hasRows(): boolean {
    return this.#rowsMs !== null;
  }

  /** Call it before rows of tables are written. */
  writesRows(): void {
    this.#rowsMs ??= this.#settings.clock.monotonicMs();
  }

  /** Begins, unless that was done. */
  async begin(): Promise<void> {
    this.#started ??= this.#begin();
    await this.#started;
  }

  async query(text: string, parameters?: readonly Parameter[]): Promise<Lines> {
    const opened = [this.begin(), this.#hurry()];
    const asked = this.#noting(this.#connection.query(text, parameters));
    const [lines] = await Promise.all([asked, ...opened]);
    return lines;
  }

  /** As `query`, for statements without parameters. */
  async script(text: string): Promise<void> {
    await Promise.all([this.begin(), this.#noting(this.#connection.script(text))]);
  }

  /** Work that is undone by itself where it throws, or the server refuses a record; that comes out, and the transaction goes on. */
  async attempt(work: () => Promise<void>): Promise<void> {
    const opened = this.script("savepoint attempt");
    try {
      await Promise.all([opened, work()]);
      // Rules that are looked at with the commit are looked at here: the record can still be told.
      await this.script("set constraints all immediate; release savepoint attempt");
    } catch (error) {
      const { failure } = this;
      if (failure !== null && !isRefusal(failure)) throw error;
      this.failure = null;
      this.#waits = true;
      await this.script("rollback to savepoint attempt; release savepoint attempt");
      throw failure ?? error;
    }
  }

  /** Sends statements in one message. */
  send(statements: readonly Statement[]): readonly Promise<Lines>[] {
    return statements.map(({ text, parameters }) => this.query(text, parameters));
  }

  /** Sends statements whose answers come with that of the commit. */
  sendLast(statements: readonly Statement[]): void {
    this.#last = this.send(statements);
    for (const answer of this.#last) answer.catch(() => {});
  }

  /** Throws `Failure`; where its state is null, or the server was stopped, nobody knows whether it was committed. */
  async commit(): Promise<void> {
    if (this.#started === null) return this.#end(true);
    if (this.failure !== null) throw this.failure;
    this.isCommitting = true;
    const committed = this.#noting(this.#connection.script("commit"));
    // The server rolls back where a statement failed, and what it said about that statement is thrown.
    const [done] = await Promise.all([committed, ...this.#last]);
    if (done !== "COMMIT") throw new Failure(new Error(`A commit was answered by ${done}`));
    this.#end(true);
  }

  /** Takes everything back. Never rejects. */
  async rollBack(): Promise<void> {
    if (this.#isOver) return;
    if (this.#started === null) return this.#end(true);
    const isGone = this.failure?.state === null;
    const rolledBack = () => this.#connection.script("rollback").then(() => true);
    this.#end(!isGone && (await rolledBack().catch(() => false)));
  }

  /** Closes the connection, whatever is under way. */
  cut(): void {
    this.#end(false);
  }

  /** Waits for no lock any more once others may have waited for those that are held. */
  async #hurry(): Promise<void> {
    if (!this.#waits || this.#rowsMs === null) return;
    if (this.#settings.clock.monotonicMs() - this.#rowsMs < this.#lockMs) return;
    this.#waits = false;
    await this.script(waitFor(NO_WAIT_MS));
  }

  #end(isUsable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.release(isUsable);
  }

  async #begin(): Promise<void> {
    const { isOneMoment, isReadOnly, turn, statementMs } = this.#beginning;
    const { raisesDurability = false, searchPath = null, storeClock } = this.#settings;
    const lockMs = this.#lockMs;
    const level = isOneMoment ? "repeatable read" : "read committed";
    const settings = [
      `begin isolation level ${level}${isReadOnly ? " read only" : ""}`,
      ...READABLE,
      `set local statement_timeout = ${statementMs}`,
      // A client that vanished holds its locks no longer than its call.
      `set local idle_in_transaction_session_timeout = ${statementMs}`,
      ...(turn === "alone" ? [waitFor(Math.min(lockMs, ALONE_MS)), TAKE_TURN_ALONE] : []),
      waitFor(lockMs),
      ...(turn === "shared" ? [TAKE_TURN] : []),
      `set local row_security = off`,
      ...(searchPath === null ? [] : [searchFirst(searchPath)]),
      ...(raisesDurability && !isReadOnly ? ["set local synchronous_commit = on"] : []),
    ];
    const begun = this.#noting(this.#connection.script(settings.join("; ")));
    const asked = this.#noting(this.#connection.query(isReadOnly ? NOW : NOW_AND_ID));
    const [[[nowMs, id, life] = []]] = await this.#noting(
      within(Promise.all([asked, begun]), BEGIN_MS, silent),
    );
    this.#nowMs = storeClock?.nowMs() ?? Number(nowMs);
    this.id = typeof id === "string" ? { id, life: String(life) } : null;
  }

  async #noting<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Failure) this.failure ??= error;
      throw this.failure ?? error;
    }
  }
}

/** True when there is a table of a name, which is quoted where it has to be. */
export async function isThere(tx: ServerTransaction, name: string): Promise<boolean> {
  const [[oid] = []] = await tx.query("select to_regclass($1::text)::text", [name]);
  return oid !== null;
}

function waitFor(locksMs: number): string {
  return `set local lock_timeout = ${locksMs}`;
}

/** Behind the server's own names the path stays, as triggers of an application look for theirs there. */
function searchFirst(path: string): string {
  return `select pg_catalog.set_config('search_path', ${literal(`pg_catalog, ${path}`)}, true)`;
}

function silent(): Failure {
  return new Failure(new Error("The connection is silent"));
}

/** The answer to work, or a failure where it takes longer; the work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
