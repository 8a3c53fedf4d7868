// A model of many instances that decide lookups on one MongoDB, to plan with: docs/operating.md. Not the service itself: what
// it takes from that are the rules of decision 126, and costs that were measured.
import { MAX_LOOKUP_BATCH_CALLS } from "../../../src/domain/shared/limits.ts";
import { SeededRandom } from "../../support/seeded-random.ts";

/** What is modelled. Times are milliseconds. */
export interface ClusterPlan {
  readonly seed: number;
  readonly instances: number;
  readonly accounts: number;
  /** Share of all lookups that the busiest account makes, 0 to 1; the others share the rest. */
  readonly hotShare: number;
  /** Lookups that come in a second, over all instances. */
  readonly perSecond: number;
  readonly seconds: number;
  /** True where each account's lookups come to an instance of its own, as a balancer can arrange. */
  readonly areAccountsPinned: boolean;
  /** Largest batch; that of the service when absent. */
  readonly maxBatch?: number;
  /** From the first read of a transaction to its last write, for a batch and for each lookup in it. */
  readonly openMs: number;
  readonly openPerLookupMs: number;
  /** From there to the reply: a majority has it on disk. Writes of the account wait for the next transaction only. */
  readonly commitMs: number;
}

export interface ClusterResult {
  /** Lookups that were answered in time, a second. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Transactions that began again, for each that was committed. */
  readonly conflicts: number;
  /** Lookups in a transaction, on average. */
  readonly batchSize: number;
}

/** Pause after a conflict, by chance. */
const PAUSE_MS = { least: 1, most: 10 };

interface Call {
  readonly atMs: number;
  readonly account: number;
}

class Instance {
  readonly waiting: Call[] = [];
  /** When its transaction ends; its next batch begins then. */
  busyUntilMs = 0;
}

interface Transaction {
  readonly instance: Instance;
  readonly batch: readonly Call[];
  readonly accounts: ReadonlySet<number>;
  readonly beganMs: number;
}

/** Plays so many seconds. The same plan gives the same result. */
export function simulateCluster(plan: ClusterPlan): ClusterResult {
  const random = new SeededRandom(plan.seed);
  const calls = arrivals(plan, random);
  const instances = Array.from({ length: plan.instances }, () => new Instance());
  const events = new EventQueue();
  /** When each account's document was last written, by commits that later transactions see. */
  const writtenAtMs = new Map<number, number>();
  const takenMs: number[] = [];
  let [committed, conflicts] = [0, 0];

  const begin = (instance: Instance, batch: readonly Call[], nowMs: number) => {
    const accounts = new Set(batch.map(({ account }) => account));
    const openMs = plan.openMs + plan.openPerLookupMs * batch.length;
    const endMs = nowMs + vary(openMs, random);
    const transaction = { instance, batch, accounts, beganMs: nowMs };
    instance.busyUntilMs = Number.POSITIVE_INFINITY;
    events.add(endMs, () => end(transaction, endMs));
  };
  const takeBatch = (instance: Instance, nowMs: number) => {
    if (instance.waiting.length > 0)
      begin(instance, instance.waiting.splice(0, plan.maxBatch ?? MAX_LOOKUP_BATCH_CALLS), nowMs);
  };
  const end = ({ instance, batch, accounts, beganMs }: Transaction, nowMs: number) => {
    const isMet = [...accounts].some((name) => (writtenAtMs.get(name) ?? -1) > beganMs);
    if (isMet) {
      conflicts++;
      const pauseMs = PAUSE_MS.least + random.next() * (PAUSE_MS.most - PAUSE_MS.least);
      events.add(nowMs + pauseMs, () => begin(instance, batch, nowMs + pauseMs));
      return;
    }
    committed++;
    for (const name of accounts) writtenAtMs.set(name, nowMs);
    const repliedMs = nowMs + vary(plan.commitMs, random);
    for (const { atMs } of batch) takenMs.push(repliedMs - atMs);
    instance.busyUntilMs = repliedMs;
    events.add(repliedMs, () => takeBatch(instance, repliedMs));
  };

  for (const [index, call] of calls.entries()) {
    const place = plan.areAccountsPinned ? call.account : index;
    const instance = instances[place % instances.length];
    if (instance === undefined) continue;
    events.add(call.atMs, () => {
      instance.waiting.push(call);
      if (instance.busyUntilMs <= call.atMs) takeBatch(instance, call.atMs);
    });
  }
  const untilMs = plan.seconds * 1_000;
  events.runUntil(untilMs);
  const sorted = takenMs.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return {
    perSecond: takenMs.length / plan.seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    conflicts: conflicts / Math.max(1, committed),
    batchSize: takenMs.length / Math.max(1, committed),
  };
}

/** A duration as machines have it: half of it to half more. */
function vary(durationMs: number, random: SeededRandom): number {
  return durationMs * (0.5 + random.next());
}

/** Calls at random times, in order. */
function arrivals(plan: ClusterPlan, random: SeededRandom): readonly Call[] {
  const calls: Call[] = [];
  const untilMs = plan.seconds * 1_000;
  for (let atMs = 0; ; ) {
    atMs -= (Math.log(1 - random.next()) * 1_000) / plan.perSecond;
    if (atMs >= untilMs) return calls;
    const isHot = random.chance(plan.hotShare);
    calls.push({ atMs, account: isHot ? 0 : random.int(1, Math.max(1, plan.accounts - 1)) });
  }
}

/** What happens when, the earliest first: a binary heap. */
class EventQueue {
  readonly #heap: { readonly atMs: number; readonly happen: () => void }[] = [];

  add(atMs: number, happen: () => void): void {
    const heap = this.#heap;
    let at = heap.push({ atMs, happen }) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((heap[above]?.atMs ?? 0) <= atMs) break;
      this.#swap(at, above);
      at = above;
    }
  }

  runUntil(endMs: number): void {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      if (next.atMs > endMs) return;
      next.happen();
    }
  }

  #take() {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let at = 0; ; ) {
      const children = [2 * at + 1, 2 * at + 2].filter((child) => child < heap.length);
      const least = children.reduce(
        (best, child) => (this.#timeOf(child) < this.#timeOf(best) ? child : best),
        at,
      );
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #timeOf(at: number): number {
    return this.#heap[at]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const [first, second] = [heap[a], heap[b]];
    if (first === undefined || second === undefined) return;
    heap[a] = second;
    heap[b] = first;
  }
}
