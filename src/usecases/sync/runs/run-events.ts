// The one owner of what a run or comparison tells: it is published, kept in the store while the run goes on, and read by
// anybody on any instance. S-6, D-4.4, D-7.8, D-7.11, D-9.5.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { CANCEL_LOOK_MS, KEEP_NEWS_MS, WATCH_MS } from "../../../domain/shared/limits.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { addNews, isWhole, type News, newsSince } from "../../../domain/sync/run/news.ts";
import type { FinishedEvent, KeptRun, RunStatus } from "../../../domain/sync/run/run.ts";
import type { Span, SpanFields } from "../../../ports/runtime/tracing.ts";
import type { ToldRun } from "../../../repositories/runs.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import { depsOfRun, type RunContext, type RunPlan } from "../shared/run-context.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { endAbandonedRuns, endIfAbandoned, holdRun, noRun, saveEnded } from "./kept-runs.ts";

/** How often a reader looks whether the process of a run elsewhere has ended. */
const LIVES_MS = 2_000;

/** The run or comparison whose events they are. */
interface Teller<Run extends KeptRun> {
  /** As lists show it while it goes on. */
  running(): Run;
  /** As it ended. */
  ended(): Run;
  /** Notes and publishes why it failed. */
  fail(cause: unknown): void;
}

/** All that it tells: `finished` is always the last. */
type Told<Some extends News> = Some | FinishedEvent;

interface Reader<Some extends News> {
  readonly news: Told<Some>[];
  wake(): void;
}

/** Readers never hold up the run; what waits for a slow one does not grow with the rows (`addNews`). */
export class RunEvents<Some extends News> {
  readonly runId: string;
  /** Their logger names the run in every line. */
  readonly deps: SyncDeps;
  /** Resolves once every instance can read the run. */
  readonly begun: Promise<void>;
  readonly startedAt: string;
  readonly #startedAtMs: number;
  readonly #tellBegun: () => void;
  readonly #stopping = new AbortController();
  readonly #told: Told<Some>[] = [];
  readonly #readers = new Set<Reader<Some>>();
  /** Times that something was published: while it stays, `#told` is the same. */
  #published = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(deps: SyncDeps) {
    this.runId = deps.ids.next();
    this.deps = depsOfRun(deps, this.runId);
    this.startedAt = formatMs(deps.clock.nowMs());
    this.#startedAtMs = deps.clock.monotonicMs();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.begun = promise;
    this.#tellBegun = resolve;
  }

  publish(news: Told<Some>): void {
    this.#published++;
    addNews(this.#told, news);
    for (const reader of this.#readers) {
      addNews(reader.news, news);
      reader.wake();
    }
  }

  /** Tells, unless that was done less than `everyMs` ago. */
  nowAndThen(everyMs: number, tell: () => void): void {
    const nowMs = this.deps.clock.monotonicMs();
    if (nowMs - this.#toldAtMs < everyMs) return;
    this.#toldAtMs = nowMs;
    tell();
  }

  /** Publishes the end. */
  close(): void {
    this.publish({ type: "finished" });
    this.#isClosed = true;
    for (const reader of this.#readers) reader.wake();
  }

  /** The news from the first on; ends with the last. */
  async *read(): AsyncGenerator<Told<Some>, void, undefined> {
    const reader: Reader<Some> = { news: [...this.#told], wake: () => {} };
    this.#readers.add(reader);
    try {
      for (;;) {
        const news = reader.news.shift();
        if (news !== undefined) yield news;
        else if (this.#isClosed) return;
        else {
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
        }
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** Aborted, with an `AppError`, to end the run before its next write. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Ends the run before its next write, as failed, with a reason for its `error`. */
  stop(reason: string, hint: string | null = null): void {
    this.#stopping.abort(new AppError("sync_failed", reason, { hint }));
  }

  /** What lists show of when it began and ended. */
  times(status: RunStatus) {
    const { clock } = this.deps;
    return {
      startedAt: this.startedAt,
      finishedAt: status === "running" ? null : formatMs(clock.nowMs()),
      durationMs: Math.round(clock.monotonicMs() - this.#startedAtMs),
    };
  }

  /**
   * Does the work of a run in a trace of its own, or in that of the request that asked for it, then publishes the end. Meanwhile
   * anybody can cancel it. D-7.8, D-10.9.
   */
  async traced<Outcome extends { readonly error: AppError | null }>(
    name: string,
    fields: SpanFields,
    work: (span: Span) => Promise<Outcome>,
  ): Promise<Outcome> {
    const run = async (span: Span) => {
      const outcome = await work(span);
      if (outcome.error !== null) span.fail(outcome.error.kind);
      return outcome;
    };
    const { tracing } = this.deps;
    const ended = new AbortController();
    const all = { "repsync.run_id": this.runId, ...fields };
    const running = tracing.inSpan(name, run, { fields: all });
    void tracing.detached(() => this.#cancelUntil(ended.signal));
    try {
      return await running;
    } finally {
      ended.abort();
      this.close();
    }
  }

  /**
   * Does the work of a run under its lease. The run is kept from now on with what it tells, and with its result and alerts once
   * `work` has ended, to which it resolves; a dry run only once it has begun. Without a remote that can be used nothing is done,
   * and nothing kept (S-4.4.5). Failures go to `teller`. Never rejects.
   */
  async kept<Run extends KeptRun>(
    teller: Teller<Run>,
    plan: RunPlan,
    work: (run: RunContext) => Promise<void>,
  ): Promise<Run> {
    const { deps, runId, startedAt, stopping: stop } = this;
    let isMeant = false;
    const byRemote = async (begin: () => Promise<void>) => {
      const remote = openRemote(deps);
      isMeant = !plan.isDryRun;
      await begin();
      await work({ ...plan, runId, deps, remote, startedAt, stop });
    };
    return await this.#keep(teller, byRemote, () => isMeant);
  }

  /** The same of work that asks no remote. */
  async keptHere<Run extends KeptRun>(
    teller: Teller<Run>,
    work: () => Promise<void>,
  ): Promise<Run> {
    const here = async (begin: () => Promise<void>) => {
      await begin();
      await work();
    };
    return await this.#keep(teller, here, () => false);
  }

  /** `isMeant`: whether the result is kept though the run could not be from its start. */
  async #keep<Run extends KeptRun>(
    teller: Teller<Run>,
    work: (begin: () => Promise<void>) => Promise<void>,
    isMeant: () => boolean,
  ): Promise<Run> {
    const { deps, runId, stopping: stop } = this;
    const ended = new AbortController();
    const held: { lease?: RunLease; keeping?: Promise<void> } = {};
    const begin = async () => {
      held.lease = await holdRun(deps, runId, stop);
      await endAbandonedRuns(deps);
      await deps.runs.save(teller.running(), [...this.#told]);
      held.keeping = deps.tracing.detached(() => this.#keepUntil(ended.signal, teller));
      this.#tellBegun();
    };
    try {
      await work(begin);
    } catch (error) {
      teller.fail(error);
    }
    ended.abort();
    // What is being kept must not replace the result.
    await held.keeping;
    const result = teller.ended();
    if (held.keeping !== undefined || isMeant()) await this.#keepResult(result);
    await held.lease?.release();
    return result;
  }

  /** Keeps what is told, for those who watch on other instances, until `ended`. Never rejects. */
  async #keepUntil(ended: AbortSignal, teller: Teller<KeptRun>): Promise<void> {
    const { runs, timer, logger } = this.deps;
    for (let kept = this.#published; ; ) {
      await timer.sleep(KEEP_NEWS_MS, ended);
      if (ended.aborted) return;
      const published = this.#published;
      if (published === kept) continue;
      try {
        await runs.save(teller.running(), [...this.#told]);
        kept = published;
      } catch (error) {
        logger.error("What a run tells could not be kept", error);
      }
    }
  }

  /** Stops the run once somebody asks for its end on any instance, until `ended`. Never rejects. */
  async #cancelUntil(ended: AbortSignal): Promise<void> {
    const { runs, timer, logger } = this.deps;
    for (;;) {
      await timer.sleep(CANCEL_LOOK_MS, ended);
      if (ended.aborted) return;
      try {
        const reason = await runs.cancellation(this.runId);
        if (reason !== null) return this.stop(reason);
      } catch (error) {
        logger.error("It could not be read whether a run is to end", error);
      }
    }
  }

  /** A result that cannot be kept is told all the same: its rows are where they belong. */
  async #keepResult(result: KeptRun): Promise<void> {
    try {
      await saveEnded(this.deps, result, [...this.#told, { type: "finished" }]);
    } catch (error) {
      this.deps.logger.error("The result of a run or comparison could not be kept", error);
    }
  }
}

/**
 * The news of a run, a dry run or a comparison of another instance: what is kept of it put together, then as it comes, at most
 * 1 s late. Ends with it, when its process has ended, and once `stopping` is aborted. Throws `not_found` before the first.
 */
export async function followRun(
  deps: SyncDeps,
  runId: string,
  stopping: AbortSignal,
): Promise<AsyncGenerator<News, void, undefined>> {
  await endIfAbandoned(deps, runId);
  const told = await deps.runs.findTold(runId);
  return told === null ? noRun() : follow(deps, told, stopping);
}

async function* follow(
  deps: SyncDeps,
  first: ToldRun,
  stopping: AbortSignal,
): AsyncGenerator<News, void, undefined> {
  const { clock, timer } = deps;
  const { runId } = first.run;
  let told: readonly News[] = [];
  let livedAtMs = clock.monotonicMs();
  for (let now: ToldRun | null = first; now !== null; ) {
    yield* newsSince(told, now.news);
    told = now.news;
    if (isWhole(told)) return;
    if (now.run.status !== "running") return yield* endOf(now.run);
    await timer.sleep(WATCH_MS, stopping);
    if (stopping.aborted) return;
    const isDue = clock.monotonicMs() - livedAtMs >= LIVES_MS;
    if (isDue) livedAtMs = clock.monotonicMs();
    now = await look(deps, runId, isDue, now);
  }
}

/** What is kept of a run by now; the same as before while the store does not answer. */
async function look(
  deps: SyncDeps,
  runId: string,
  isDue: boolean,
  before: ToldRun,
): Promise<ToldRun | null> {
  try {
    if (isDue) await endIfAbandoned(deps, runId);
    return await deps.runs.findTold(runId);
  } catch (error) {
    if (!isAppError(error) || !error.isRecoverable) throw error;
    deps.logger.error("A run that is watched could not be read", error, { run_id: runId });
    return before;
  }
}

/** The end of a run that did not tell its own, as its process ended, or was of an earlier version. */
function* endOf(run: KeptRun): Generator<News, void, undefined> {
  const { error } = run;
  if (error !== undefined && run.kind === "compare") {
    yield { type: "error", table: run.table, error };
  } else if (error !== undefined && run.kind === "import") {
    yield { type: "error", table: run.table, error, result: null };
  } else if (error !== undefined && run.kind === "sync") {
    const table = Object.keys(run.tables).at(-1) ?? "?";
    const direction = run.direction === "pull" ? "pull" : "push";
    yield { type: "error", table, direction, error };
  }
  yield { type: "finished" };
}
