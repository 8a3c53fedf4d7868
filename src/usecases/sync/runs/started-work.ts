// Work that goes on to its end whether or not anybody waits for it or reads its news, on any instance: a run, a comparison or an
// import. It is kept in the store meanwhile, and can be cancelled. S-6, D-4.4, D-7.8, D-7.11, D-9.5.
import { AppError } from "../../../domain/shared/errors.ts";
import { CANCEL_LOOK_MS, KEEP_NEWS_MS } from "../../../domain/shared/limits.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { addNews, hasEnded, type News, newsSince } from "../../../domain/sync/run/news.ts";
import {
  type FinishedEvent,
  isListed,
  type RunStatus,
  type StoredRun,
} from "../../../domain/sync/run/run.ts";
import { repeat } from "../../../ports/runtime/runtime.ts";
import type { Span, SpanFields } from "../../../ports/runtime/tracing.ts";
import { runLeaseName } from "../../../repositories/leases.ts";
import { holdLease, type RunLease } from "../shared/hold-lease.ts";
import { depsOfRun } from "../shared/run-context.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { endAbandonedRuns, saveEnded } from "./stored-runs.ts";

/** `finished` is always the last. */
type Told<Some extends News> = Some | FinishedEvent;

/** The news of some work. Readers never hold it up, and what waits for a slow one does not grow with the rows (`addNews`). */
export class RunEvents<Some extends News> {
  readonly told: Told<Some>[] = [];
  /** Counts what was published: while it stays, `told` is the same. */
  published = 0;
  #next = Promise.withResolvers<void>();

  publish(news: Told<Some>): void {
    this.published++;
    addNews(this.told, news);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** The news from the first on; ends with the last. */
  async *news(): AsyncGenerator<Told<Some>, void, undefined> {
    for (let told: readonly Told<Some>[] = []; ; ) {
      const { promise: next } = this.#next;
      const now = [...this.told];
      yield* newsSince(told, now) as readonly Told<Some>[];
      if (hasEnded(now)) return;
      told = now;
      await next;
    }
  }
}

/** The work to do, and how it is traced. */
interface Work<Given> {
  /** The name of the span. */
  readonly name: string;
  readonly fields: SpanFields;
  /** Called first. Where it throws, nothing is done and nothing kept. S-4.4.5. */
  open(): Given;
  do(given: Given): Promise<void>;
}

export abstract class StartedWork<
  Some extends News,
  Run extends StoredRun,
> extends RunEvents<Some> {
  readonly runId: string;
  /** False where the work was refused before it began: then no id finds it. */
  isKept = false;
  /** Their logger adds the run to every line. */
  readonly deps: SyncDeps;
  /** Resolved once every instance can read the run. */
  protected readonly whenBegun = Promise.withResolvers<void>();
  readonly #startedAt: string;
  readonly #startedAtMs: number;
  readonly #stopping = new AbortController();
  readonly #stopped: AppError;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  /** `stopped`: why the work ended when the service stops. */
  constructor(deps: SyncDeps, stopped: { readonly text: string; readonly hint: string }) {
    super();
    this.runId = deps.ids.next();
    this.deps = depsOfRun(deps, this.runId);
    this.#startedAt = formatMs(deps.clock.nowMs());
    this.#startedAtMs = deps.clock.monotonicMs();
    this.#stopped = new AppError("sync_failed", stopped.text, { hint: stopped.hint });
  }

  /** The run as lists show it. */
  abstract describe(status: RunStatus): Run;
  /** True where a part of what was asked for was refused. */
  protected abstract get isPartial(): boolean;
  /** Notes and publishes a failure. */
  abstract fail(cause: unknown): void;
  /** The failure as callers may know it; null without one. */
  abstract get error(): AppError | null;

  /** Ends the work before its next write, as failed for this reason. */
  stop(reason: string | null = null): void {
    this.#stopping.abort(reason === null ? this.#stopped : new AppError("sync_failed", reason));
  }

  /** Aborted, with an `AppError`, by `stop`. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  protected atMostEvery(everyMs: number, tell: () => void): void {
    const nowMs = this.deps.clock.monotonicMs();
    if (nowMs - this.#toldAtMs < everyMs) return;
    this.#toldAtMs = nowMs;
    tell();
  }

  /** The times that lists show. */
  protected times(status: RunStatus) {
    const { clock } = this.deps;
    return {
      startedAt: this.#startedAt,
      finishedAt: status === "running" ? null : formatMs(clock.nowMs()),
      durationMs: Math.round(clock.monotonicMs() - this.#startedAtMs),
    };
  }

  /** In a trace of its own, or in its request's. Anybody can cancel it. Failures go to `fail`. Never rejects. D-7.8, D-10.9. */
  protected async perform<Given>(work: Work<Given>): Promise<Run> {
    const fields = { "repsync.run_id": this.runId, ...work.fields };
    const run = async (span: Span) => {
      const result = await this.#keep(work);
      if (this.error !== null) span.fail(this.error.kind);
      span.set({ "repsync.status": result.status });
      return result;
    };
    try {
      return await this.deps.tracing.inSpan(work.name, run, { fields });
    } finally {
      this.publish({ type: "finished" });
    }
  }

  /**
   * Does the work under its own lease. The store keeps it with its news from its begin on, and its result with alerts at the end.
   */
  async #keep<Given>(work: Work<Given>): Promise<Run> {
    const { deps, runId } = this;
    const ended = new AbortController();
    let lease: RunLease | null = null;
    let beside: Promise<unknown> | null = null;
    try {
      const given = work.open();
      // Of work that fails before it is saved, what lists show is kept.
      this.isKept = isListed(this.describe("running"));
      lease = await holdLease(deps, runLeaseName(runId), runId, this.stopping);
      await endAbandonedRuns(deps);
      await deps.runs.save(this.describe("running"), [...this.told]);
      this.isKept = true;
      beside = deps.tracing.detached(() =>
        Promise.all([this.#keepUntil(ended.signal), this.#cancelUntil(ended.signal)]),
      );
      this.whenBegun.resolve();
      await work.do(given);
    } catch (error) {
      this.fail(error);
    }
    ended.abort();
    // A save under way must not replace the result.
    await beside;
    const { error } = this;
    const result =
      error === null
        ? this.describe(this.isPartial ? "partial" : "success")
        : { ...this.describe("failed"), error: error.text };
    try {
      if (this.isKept) await saveEnded(deps, result, [...this.told, { type: "finished" }]);
    } catch (cause) {
      // The result is told all the same: the rows are written.
      deps.logger.error("The result of a run or comparison could not be kept", cause);
    }
    await lease?.[Symbol.asyncDispose]();
    return result;
  }

  /** Keeps the news for watchers on other instances, until `ended`. Never rejects. */
  async #keepUntil(ended: AbortSignal): Promise<void> {
    const { runs, timer, logger } = this.deps;
    let kept = this.published;
    await repeat(timer, KEEP_NEWS_MS, ended, async () => {
      const { published } = this;
      if (published === kept) return;
      try {
        await runs.save(this.describe("running"), [...this.told]);
        kept = published;
      } catch (error) {
        logger.error("What a run tells could not be kept", error);
      }
    });
  }

  /** Stops the work once it is cancelled on any instance, until `ended`. Never rejects. */
  async #cancelUntil(ended: AbortSignal): Promise<void> {
    const { runs, timer, logger } = this.deps;
    await repeat(timer, CANCEL_LOOK_MS, ended, async () => {
      try {
        const reason = await runs.cancellation(this.runId);
        if (reason !== null) this.stop(reason);
      } catch (error) {
        logger.error("It could not be read whether a run is to end", error);
      }
    });
  }
}
