// Transactions: they run again after conflicts, and ask the server for the outcome after a lost reply to a commit.
import { randomInt } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  type CallLimit,
  type CallOptions,
  CommitInDoubt,
  isShort,
  START_CALLS,
  SYNC_CALLS,
} from "../../../ports/documents.ts";
import { MAX_TIMER_MS } from "../../../ports/runtime/runtime.ts";
import { BodyQueues, Turns } from "../../../ports/runtime/turns.ts";
import type { Driver, Lines, Parameter } from "./bun-driver.ts";
import { Failure, hasState, isConflict, isPassing, TimeUp, unavailable } from "./errors.ts";
import { SCHEMA, TIDY } from "./schema.ts";
import {
  type Beginning,
  type DatabaseSettings,
  READ_STATUS,
  ServerTransaction,
  type TransactionId,
  within,
} from "./transaction.ts";

const LOCK_NOT_AVAILABLE = "55P03";
const INSUFFICIENT_PRIVILEGE = "42501";
const INVALID_PARAMETER = "22023";
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 200;
/** Conflicts of a divisible body after which the caller is told to send less. */
const MANY_CONFLICTS = 8;
/** Time in which the outcome of a commit has to become known. */
const DOUBT_MS = 5_000;
const TIDY_MS = 60_000;
/** Other programs' processes that have held tables for more than 10 s. */
const LONG_LOCKS = `
select l.pid::text, string_agg(distinct c.relname, ', ')
from pg_locks as l join pg_class as c on c.oid = l.relation join pg_stat_activity as a on a.pid = l.pid
where l.granted and l.database = (select oid from pg_database where datname = current_database()) and c.relkind = 'r'
  and c.relnamespace::regnamespace::text not in ('pg_catalog', '${SCHEMA}') and a.xact_start < clock_timestamp() - interval '10 s'
group by l.pid order by l.pid limit 5`;

interface DatabaseDeps extends DatabaseSettings {
  readonly driver: Driver;
  readonly callLimit?: CallLimit;
  /** Hints of how the role gets the rights to make, and to change, what repsync owns. */
  readonly grants?: { readonly toMake: string; readonly toOwn: string };
}

interface Attempt extends Omit<Beginning, "statementMs"> {
  readonly leftMs: number;
}

export class PostgresDatabase {
  readonly #deps: DatabaseDeps;
  readonly #queues = new BodyQueues();
  #tidyAtMs: number;

  constructor(deps: DatabaseDeps) {
    this.#deps = deps;
    this.#tidyAtMs = deps.clock.monotonicMs() + TIDY_MS;
  }

  /** Begins the first turn of work on many rows. D-7.9. */
  turns(): Turns {
    return new Turns(this.#deps.clock, nextTurn);
  }

  /** Runs a body on one snapshot. */
  async read<T>(options: CallOptions, body: (tx: ServerTransaction) => Promise<T>): Promise<T> {
    return await this.#run(options, { isOneMoment: true, isReadOnly: true }, body);
  }

  /** Runs a body on one snapshot and commits. */
  async transact<T>(options: CallOptions, body: (tx: ServerTransaction) => Promise<T>): Promise<T> {
    const how = { isOneMoment: true, isReadOnly: false };
    const beganMs = this.#deps.clock.monotonicMs();
    const place = options.isQueued ? this.#queues.enter(options.name) : null;
    // Bodies before it began earlier and have the same time limit, so the wait ends within it.
    await place?.turn;
    const work = this.#run(options, how, body, beganMs);
    const result = await work.finally(() => place?.leave());
    if (this.#deps.clock.monotonicMs() >= this.#tidyAtMs) this.#tidy();
    return result;
  }

  /** Changes tables and collections, one instance at a time; each statement sees what is committed. Throws `invalid_request` for a missing right. */
  async change<T>(name: string, body: (tx: ServerTransaction) => Promise<T>): Promise<T> {
    const how = { isOneMoment: false, isReadOnly: false };
    try {
      return await this.#run({ name, limit: START_CALLS }, how, async (tx) => {
        await tx.query("select pg_advisory_xact_lock(hashtextextended('repsync', 0))");
        return await body(tx);
      });
    } catch (error) {
      const cause = error instanceof Error ? error.cause : null;
      if (hasState(cause, LOCK_NOT_AVAILABLE)) throw await this.#heldUp(cause);
      if (!hasState(cause, INSUFFICIENT_PRIVILEGE)) throw error;
      const text = `The user of STORAGE_URL lacks a right in PostgreSQL: ${cause.message}`;
      const lacking = cause.message.startsWith("must be owner") ? "toOwn" : "toMake";
      const hint = this.#deps.grants?.[lacking] ?? null;
      throw new AppError("invalid_request", text, { cause, hint });
    }
  }

  /** The error of a change that waits too long for other programs' locks. */
  async #heldUp(cause: Failure): Promise<AppError> {
    const lines = await this.ask("locks.look", LONG_LOCKS).catch(() => []);
    const held = lines.map(([pid, tables]) => `process ${pid} (${tables})`);
    const text = `Transactions of other programs hold what PostgreSQL is to change: ${held.join(", ") || "they have ended by now"}`;
    const hint = "Let them end, or end them by pg_terminate_backend, and start again";
    return new AppError("store_unavailable", text, { cause, hint });
  }

  /** As `change`, but side by side with other instances, and with the usual deadline. */
  async step<T>(name: string, body: (tx: ServerTransaction) => Promise<T>): Promise<T> {
    return await this.#run({ name }, { isOneMoment: false, isReadOnly: false }, body);
  }

  async ask(name: string, text: string, parameters?: readonly Parameter[]): Promise<Lines> {
    return await this.step(name, (tx) => tx.query(text, parameters));
  }

  /** Reads on one snapshot until the caller rolls back. Throws `Failure`. */
  async openReading(): Promise<ServerTransaction> {
    const how = { isOneMoment: true, isReadOnly: true, turn: null };
    return await this.#open({ ...how, leftMs: Number.POSITIVE_INFINITY });
  }

  async close(): Promise<void> {
    await this.#deps.driver.close();
  }

  /** Tidies in the background; the next time makes up for a failure. */
  #tidy(): void {
    this.#tidyAtMs = this.#deps.clock.monotonicMs() + TIDY_MS;
    this.step("store.tidy", (tx) => tx.script(TIDY)).catch(() => {});
  }

  async #run<T>(
    options: CallOptions,
    how: Pick<Beginning, "isOneMoment" | "isReadOnly">,
    body: (tx: ServerTransaction) => Promise<T>,
    beganMs = this.#deps.clock.monotonicMs(),
  ): Promise<T> {
    const { clock, callLimit = SYNC_CALLS } = this.#deps;
    const limit = options.limit ?? callLimit;
    const { triesMs, endMs } = limit;
    const lastTryMs = beganMs + triesMs;
    const hasTurns = how.isOneMoment && !how.isReadOnly && isShort(limit);
    let turn: Attempt["turn"] = hasTurns ? "shared" : null;
    let last: Failure | null = null;
    for (let tries = 1; ; tries++) {
      const leftMs = beganMs + endMs - clock.monotonicMs();
      const outcome = await this.#try({ ...how, leftMs, turn }, body).catch((error) => {
        // The last failure says more than `TimeUp`.
        throw error instanceof TimeUp && last !== null ? unavailable(last) : error;
      });
      if ("result" in outcome) return outcome.result;
      const { error, failure, hasRows } = outcome;
      if (failure === null) throw error;
      last = failure;
      const isMet = isConflict(failure);
      if (isMet && hasRows && options.isDivisible && tries >= MANY_CONFLICTS) {
        const text = "Others write the same rows all the time";
        throw new AppError("batch_too_large", text, { cause: failure });
      }
      if (!(isMet || isPassing(failure)) || clock.monotonicMs() >= lastTryMs) {
        throw unavailable(failure, hasRows);
      }
      if (turn === "shared" && isMet && !hasRows) {
        // No pause before a turn alone: bodies without pauses would always come first in it.
        turn = "alone";
        continue;
      }
      if (turn === "alone") turn = "shared";
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
      await sleep(randomInt(pauseMs, 2 * pauseMs) / 2);
    }
  }

  /** One attempt. Throws when the outcome of a commit stays unknown, and when the time is over. */
  async #try<T>(how: Attempt, body: (tx: ServerTransaction) => Promise<T>): Promise<Outcome<T>> {
    let tx: ServerTransaction | null = null;
    let isOver = false;
    const attempt = async (): Promise<Outcome<T>> => {
      try {
        tx = await this.#open(how);
        if (isOver) throw new TimeUp();
        const result = await body(tx);
        return await this.#commit(tx, result);
      } catch (error) {
        // Errors of the body and of the port reach the caller unchanged.
        const failure = error instanceof Failure ? (tx?.failure ?? error) : null;
        await tx?.rollBack();
        return { error, failure, hasRows: tx?.hasRows ?? false };
      }
    };
    if (how.leftMs <= 0) throw new TimeUp();
    if (how.leftMs > MAX_TIMER_MS) return await attempt();
    return await within(attempt(), how.leftMs, () => {
      isOver = true;
      tx?.cut();
      return tx?.isCommitting ? new CommitInDoubt() : new TimeUp();
    });
  }

  async #open(how: Attempt): Promise<ServerTransaction> {
    const connection = await this.#deps.driver.connect();
    const statementMs = how.leftMs > MAX_TIMER_MS ? 0 : Math.max(1, Math.ceil(how.leftMs));
    return new ServerTransaction(connection, { ...how, statementMs }, this.#deps);
  }

  async #commit<T>(tx: ServerTransaction, result: T): Promise<Outcome<T>> {
    const isBad = tx.failure !== null;
    try {
      await tx.commit();
    } catch (error) {
      const isLost = !isBad && error instanceof Failure && isPassing(error);
      if (!isLost || tx.id === null) throw error;
      tx.cut();
      const status = await this.#statusOf(tx.id);
      if (status === null) throw new CommitInDoubt(error);
      if (status === "aborted") return { error, failure: error, hasRows: tx.hasRows };
    }
    return { result };
  }

  /** The outcome of a transaction. Null where it stays unknown, or a restarted server may have given the id to another one. */
  async #statusOf({ id, life }: TransactionId): Promise<"committed" | "aborted" | null> {
    const limit = { triesMs: DOUBT_MS, endMs: DOUBT_MS };
    const how = { isOneMoment: false, isReadOnly: true };
    try {
      return await this.#run({ name: "commit.ask", limit }, how, async (tx) => {
        const [[status, lifeNow] = []] = await tx.query(READ_STATUS, [id]);
        if (lifeNow !== life) return status === "committed" ? null : "aborted";
        if (status === "committed" || status === "aborted") return status;
        throw new Failure(new Error("The commit is under way"));
      });
    } catch (error) {
      const cause = error instanceof Error ? error.cause : null;
      // A restarted server has lost the id, and has not given it anew.
      return hasState(cause, INVALID_PARAMETER) ? "aborted" : null;
    }
  }
}

type Outcome<T> =
  | { readonly result: T }
  | { readonly error: unknown; readonly failure: Failure | null; readonly hasRows: boolean };
