// Keeps what a run or comparison tells in the store while it goes on, for those who watch it on other instances. D-9.5.
import { KEEP_NEWS_MS } from "../../../domain/shared/limits.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import type { KeptRun } from "../../../domain/sync/run/run.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { alertsOfRun } from "./run-alerts.ts";
import type { RunFeed } from "./run-feed.ts";

type KeeperDeps = Pick<SyncDeps, "runs" | "alerts" | "timer" | "logger" | "tracing">;

/** What is kept: the run as it is, and its news. */
interface Kept<Some extends News> {
  readonly feed: RunFeed<Some>;
  describe(): KeptRun;
}

export class NewsKeeper<Some extends News> {
  readonly #deps: KeeperDeps;
  readonly #kept: Kept<Some>;
  readonly #ended = new AbortController();
  readonly #keeping: Promise<void>;

  private constructor(deps: KeeperDeps, kept: Kept<Some>) {
    this.#deps = deps;
    this.#kept = kept;
    const keep = () => this.#keepUntilEnded(kept.feed.published);
    this.#keeping = deps.tracing.detached(keep);
  }

  /** Keeps a run that begins, and what it tells from then on. Throws `store_unavailable`. */
  static async begin<Some extends News>(
    deps: KeeperDeps,
    kept: Kept<Some>,
  ): Promise<NewsKeeper<Some>> {
    await deps.runs.save(kept.describe(), kept.feed.told());
    return new NewsKeeper(deps, kept);
  }

  /** Keeps the result as `keepResult` does. */
  async end(result: KeptRun): Promise<void> {
    this.#ended.abort();
    // What is being kept must not replace the result.
    await this.#keeping;
    await keepResult(this.#deps, result, this.#kept.feed.told());
  }

  async #keepUntilEnded(publishedBefore: number): Promise<void> {
    const { feed, describe } = this.#kept;
    const { runs, timer, logger } = this.#deps;
    for (let kept = publishedBefore; ; ) {
      await timer.sleep(KEEP_NEWS_MS, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      const { published } = feed;
      if (published === kept) continue;
      try {
        await runs.save(describe(), feed.told());
        kept = published;
      } catch (error) {
        logger.error("What a run tells could not be kept", error);
      }
    }
  }
}

/** Keeps a result with all news and its alerts. One that cannot be kept is told all the same: its rows are where they belong. */
export async function keepResult(
  { runs, alerts, logger }: KeeperDeps,
  result: KeptRun,
  told: readonly News[],
): Promise<void> {
  try {
    const news = [...told, { type: "finished" } as const];
    await runs.save(result, news, alerts?.makeAll(alertsOfRun(result)));
  } catch (error) {
    logger.error("The result of a run or comparison could not be kept", error);
  }
}
