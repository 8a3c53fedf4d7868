// Leases and runs in memory, as simple as their contracts allow.
import type { QueuedAlert } from "../../../src/domain/alerts/alert.ts";
import { MAX_KEPT_DRY_RUNS, MAX_KEPT_RUNS } from "../../../src/domain/shared/limits.ts";
import type { News } from "../../../src/domain/sync/run/news.ts";
import type { KeptRun } from "../../../src/domain/sync/run/run.ts";
import type { AlertOutbox } from "../../../src/ports/alerts/alert-outbox.ts";
import type {
  HeldLease,
  LeaseClaim,
  LeaseRequest,
  LeaseStore,
} from "../../../src/ports/runs/lease-store.ts";
import type { RunStore, ToldRun } from "../../../src/ports/runs/run-store.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import { MemoryAlertOutbox } from "./alerts.ts";

/** Leases by a clock. */
export class MemoryLeaseStore implements LeaseStore {
  readonly #clock: Clock;
  readonly #held = new Map<string, { holder: string; turn: number; expiresAtMs: number }>();
  #turns = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire({ name, holder, ttlMs }: LeaseRequest): Promise<HeldLease | { heldBy: string }> {
    const present = this.#held.get(name);
    if (present !== undefined && present.expiresAtMs > this.#clock.nowMs()) {
      return { heldBy: present.holder };
    }
    const turn = ++this.#turns;
    this.#held.set(name, { holder, turn, expiresAtMs: this.#clock.nowMs() + ttlMs });
    return {
      claim: { name, turn: String(turn) },
      renew: async () => {
        const own = this.#held.get(name);
        if (own?.turn !== turn || own.expiresAtMs <= this.#clock.nowMs()) return false;
        own.expiresAtMs = this.#clock.nowMs() + ttlMs;
        return true;
      },
      release: async () => {
        if (this.#held.get(name)?.turn === turn) this.#held.delete(name);
      },
    };
  }

  /** True while this turn holds its lease. */
  isHeld({ name, turn }: LeaseClaim): boolean {
    const present = this.#held.get(name);
    return String(present?.turn) === turn && (present?.expiresAtMs ?? 0) > this.#clock.nowMs();
  }

  /** Who has a lease now; null when nobody has. */
  holderOf(name: string): string | null {
    const present = this.#held.get(name);
    const isHeld = present !== undefined && present.expiresAtMs > this.#clock.nowMs();
    return isHeld ? present.holder : null;
  }
}

/** Runs in the order in which they were first saved. */
export class MemoryRunStore implements RunStore {
  readonly #outbox: AlertOutbox;
  readonly #runs = new Map<string, ToldRun>();
  readonly #dryRuns = new Map<string, ToldRun>();
  readonly #cancellations = new Map<string, string>();

  constructor(outbox: AlertOutbox = new MemoryAlertOutbox()) {
    this.#outbox = outbox;
  }

  async cancel(runId: string, reason: string): Promise<void> {
    const isKept = (await this.find(runId)) !== null;
    if (isKept && !this.#cancellations.has(runId)) this.#cancellations.set(runId, reason);
  }

  async cancellation(runId: string): Promise<string | null> {
    return this.#cancellations.get(runId) ?? null;
  }

  async save(
    run: KeptRun,
    news?: readonly News[],
    alerts: readonly QueuedAlert[] = [],
  ): Promise<void> {
    await this.#outbox.add(alerts);
    const isDry = run.kind === "sync" && run.dryRun;
    const [kept, limit] = isDry ? [this.#dryRuns, MAX_KEPT_DRY_RUNS] : [this.#runs, MAX_KEPT_RUNS];
    const told = news ?? kept.get(run.runId)?.news ?? [];
    kept.set(run.runId, structuredClone({ run, news: told }));
    const [oldest] = kept.keys();
    if (kept.size > limit && oldest !== undefined) kept.delete(oldest);
  }

  async find(runId: string): Promise<KeptRun | null> {
    return (await this.findTold(runId))?.run ?? null;
  }

  async findTold(runId: string): Promise<ToldRun | null> {
    return this.#runs.get(runId) ?? this.#dryRuns.get(runId) ?? null;
  }

  async list(query: {
    readonly limit: number;
    readonly beforeId: string | null;
  }): Promise<readonly KeptRun[]> {
    const newest = [...this.#runs.values()].map(({ run }) => run).reverse();
    if (query.beforeId === null) return newest.slice(0, query.limit);
    const at = newest.findIndex((run) => run.runId === query.beforeId);
    return at === -1 ? [] : newest.slice(at + 1, at + 1 + query.limit);
  }
}
