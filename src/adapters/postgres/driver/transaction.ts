import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { Connection, Lines, Parameter } from "./bun-driver.ts";
import { Failure, isRefusal } from "./errors.ts";
import { TAKE_TURN, TAKE_TURN_ALONE } from "./schema.ts";
import { literal, type Statement } from "./sql.ts";

export interface Beginning {
  /** True for one snapshot from the first statement on. Otherwise each statement sees what was committed before it. */
  readonly isOneMoment: boolean;
  readonly isReadOnly: boolean;
  /** A turn beside other shared ones, or a turn alone after all earlier ones. Null for none. */
  readonly turn: "shared" | "alone" | null;
  /** The server ends a longer statement; 0 for no limit. */
  readonly statementMs: number;
}

export interface DatabaseSettings {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Replaces the server's time. */
  readonly storeClock?: Pick<Clock, "nowMs"> | undefined;
  /** What `search_path` has behind `pg_catalog`; null where the role's own will do. D-12.2. */
  readonly searchPath?: string | null;
  /** The server's `deadlock_timeout`, a second by default. */
  readonly deadlockMs?: number;
  /** True where the server knows `transaction_timeout`. */
  readonly timesTransactions?: boolean;
}

/** The part of `deadlock_timeout` in which a transaction waits for locks: a wait that begins at its end is at most as long again. */
const LOCK_SHARE = 0.3;
const MAX_LOCK_MS = 500;
/** 1, as 0 means no limit. */
const NO_WAIT_MS = 1;
/** Longest wait for a turn alone, as all new bodies wait behind it. */
const ALONE_MS = 100;
/** A connection that does not begin a transaction in this time is broken. */
const BEGIN_MS = 5_000;

/** Settings that the client and the statements rely on, and roles or databases may change. */
const READABLE = [
  `set local timezone = 'UTC'`,
  `set local datestyle = 'ISO, YMD'`,
  `set local bytea_output = 'hex'`,
  `set local extra_float_digits = 1`,
  `set local array_nulls = on`,
  `set local quote_all_identifiers = off`,
];

const NOW = `select floor(extract(epoch from clock_timestamp()) * 1000)::int8`;
/** Changes with a crash and with the server: then ids of transactions without traces are given anew. */
const LIFE =
  "pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), pg_catalog.pg_stat_get_bgwriter_stat_reset_time())";
/** Else a crash of the server could lose confirmed commits. The server or the role may get another setting at any time. */
const RAISE_DURABILITY =
  "case when current_setting('synchronous_commit') not in ('on', 'remote_apply') then set_config('synchronous_commit', 'on', true) end";
const NOW_AND_ID = `${NOW}, pg_current_xact_id()::text, ${LIFE}, ${RAISE_DURABILITY}`;

/** Reads the outcome of a transaction, and the server's life. */
export const READ_STATUS = `select pg_catalog.pg_xact_status($1::pg_catalog.text::pg_catalog.xid8), ${LIFE}`;

/** A transaction by its id, and the life of the server (`LIFE`) in which the id is unique. */
export interface TransactionId {
  readonly id: string;
  readonly life: string;
}

/** Statements that are sent without awaiting earlier ones go in one message. */
export class ServerTransaction {
  readonly #connection: Connection;
  readonly #beginning: Beginning;
  readonly #settings: DatabaseSettings;
  /**
   * The longest wait for a lock, and the time after the first written row in which the transaction waits at all. Twice this time is less
   * than `deadlock_timeout`, so in a deadlock with another program this transaction gives up.
   */
  readonly #lockMs: number;
  #started: Promise<void> | null = null;
  #nowMs: number | null = null;
  /** Null where nothing is written. */
  id: TransactionId | null = null;
  #isOver = false;
  /** The first failed statement, which makes the later ones fail. */
  failure: Failure | null = null;
  /** When the first row was written, by the clock; null before. */
  #rowsMs: number | null = null;
  #waits = true;
  #last: readonly Promise<unknown>[] = [];
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

  get hasRows(): boolean {
    return this.#rowsMs !== null;
  }

  /** To be called before rows of tables are written. */
  writesRows(): void {
    this.#rowsMs ??= this.#settings.clock.monotonicMs();
  }

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

  /** The first value of the answer; undefined where that has no row. */
  async first(text: string, parameters?: readonly Parameter[]): Promise<unknown> {
    const [line] = await this.query(text, parameters);
    return line?.[0];
  }

  /** As `query`, for statements without parameters. */
  async script(text: string): Promise<void> {
    await Promise.all([this.begin(), this.#noting(this.#connection.script(text))]);
  }

  /** Undoes work that throws or that the server refuses, and throws that error. The transaction goes on. */
  async attempt(work: () => Promise<void>): Promise<void> {
    const opened = this.script("savepoint attempt");
    try {
      await Promise.all([opened, work()]);
      // Checks deferred constraints now, while the record can still be told.
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

  send(statements: readonly Statement[]): readonly Promise<Lines>[] {
    return statements.map(({ text, parameters }) => this.query(text, parameters));
  }

  /** Sends statements whose answers come with that of the commit. */
  sendLast(statements: readonly Statement[]): void {
    this.#last = this.send(statements);
    for (const answer of this.#last) answer.catch(() => {});
  }

  /** Throws `Failure`. When its state is null, or the server was stopped, the outcome is unknown. */
  async commit(): Promise<void> {
    if (this.#started === null) return this.#end(true);
    if (this.failure !== null) throw this.failure;
    this.isCommitting = true;
    const committed = this.#noting(this.#connection.script("commit"));
    // The server rolls back after a failed statement, whose failure is thrown.
    const [done] = await Promise.all([committed, ...this.#last]);
    if (done !== "COMMIT") throw new Failure(new Error(`A commit was answered by ${done}`));
    this.#end(true);
  }

  /** Never rejects. */
  async rollBack(): Promise<void> {
    if (this.#isOver) return;
    if (this.#started === null) return this.#end(true);
    if (this.failure?.state === null) return this.cut();
    const rolledBack = this.#connection.script("rollback").then(() => true);
    this.#end(await rolledBack.catch(() => false));
  }

  cut(): void {
    this.#end(false);
  }

  /** Stops waiting for locks when others may have waited long for this transaction's own. */
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
    const { searchPath = null, storeClock, timesTransactions = false } = this.#settings;
    const lockMs = this.#lockMs;
    const level = isOneMoment ? "repeatable read" : "read committed";
    const settings = [
      `begin isolation level ${level}${isReadOnly ? " read only" : ""}`,
      ...READABLE,
      `set local statement_timeout = ${statementMs}`,
      // The locks of a vanished client end with its call.
      `set local idle_in_transaction_session_timeout = ${statementMs}`,
      ...(timesTransactions ? [`set local transaction_timeout = 0`] : []),
      ...(turn === "alone" ? [waitFor(Math.min(lockMs, ALONE_MS)), TAKE_TURN_ALONE] : []),
      waitFor(lockMs),
      ...(turn === "shared" ? [TAKE_TURN] : []),
      `set local row_security = off`,
      ...(searchPath === null ? [] : [searchFirst(searchPath)]),
    ];
    const silent = () => new Failure(new Error("The connection is silent"));
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

/** True when a table has the name, which is quoted where needed. */
export async function isThere(tx: ServerTransaction, name: string): Promise<boolean> {
  return (await tx.first("select to_regclass($1::text)::text", [name])) !== null;
}

function waitFor(locksMs: number): string {
  return `set local lock_timeout = ${locksMs}`;
}

/** Puts `pg_catalog` first and keeps the rest, in which triggers of an application find their names. */
function searchFirst(path: string): string {
  return `select pg_catalog.set_config('search_path', ${literal(`pg_catalog, ${path}`)}, true)`;
}

/** The result of the work, or a failure when it takes longer; the work goes on. */
export async function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const { promise: end, reject } = Promise.withResolvers<never>();
  using _timer = setTimeout(() => reject(late()), ms);
  return await Promise.race([work, end]);
}
