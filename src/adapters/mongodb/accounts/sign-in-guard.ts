import type { ClientSession, Collection, Db } from "mongodb";
import { attemptsOf } from "../../../domain/reputation/accounts/attempt-names.ts";
import type { AttemptCounter, SignInGuard } from "../../../ports/accounts/sign-in-guard.ts";
import type { InternalCollection } from "../driver/collections.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreDeps,
  type TxOptions,
  writeTogether,
} from "../driver/operations.ts";

/** A document per counter that was used. */
export const ATTEMPTS: InternalCollection = {
  name: "repsync_attempts",
  indexes: [{ name: "repsync_end", key: { endsAtMs: 1 } }],
};

interface AttemptDocument {
  /** Name of the counter. */
  readonly _id: string;
  /** When its events were, in the order of counting. */
  readonly atMs: readonly number[];
  /** When the last of them has left the window. */
  readonly endsAtMs: number;
}

/** The events of counters by name; none for those that were not used. */
type Events = ReadonlyMap<string, readonly number[]>;

/** Comes after every text that continues what stands before it. */
const LAST_CHARACTER = "\u{10ffff}";

/** Removes what is counted of an account, in the caller's transaction. */
export async function forgetAttempts(db: Db, username: string, tx: ClientSession): Promise<void> {
  const { names, prefix } = attemptsOf(username);
  const isKnownAddress = { _id: { $gt: prefix, $lt: prefix + LAST_CHARACTER } };
  const isOfAccount = { $or: [{ _id: { $in: [...names] } }, isKnownAddress] };
  await db.collection<AttemptDocument>(ATTEMPTS.name).deleteMany(isOfAccount, { session: tx });
}

/** Failed sign-ins and signups as documents; what is counted together is one transaction. */
export class MongoSignInGuard implements SignInGuard {
  readonly #deps: StoreDeps;
  readonly #attempts: Collection<AttemptDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#attempts = deps.db.collection(ATTEMPTS.name);
  }

  async retryAfterSeconds(counters: readonly AttemptCounter[]): Promise<number | null> {
    if (counters.length === 0) return null;
    const events = await readCommitted(this.#deps, () => this.#find(counters, COMMITTED));
    return longestWait(counters, events);
  }

  async count(counters: readonly AttemptCounter[]): Promise<number | null> {
    if (counters.length === 0) return null;
    const seconds = await writeTogether(this.#deps, async (tx) => {
      const events = await this.#find(counters, { session: tx });
      const wait = longestWait(counters, events);
      if (wait === null) await this.#add(counters, events, tx);
      return wait;
    });
    if (seconds === null) await this.#dropEnded(counters);
    return seconds;
  }

  async #find(
    counters: readonly AttemptCounter[],
    options: typeof COMMITTED | TxOptions,
  ): Promise<Events> {
    const names = counters.map(({ name }) => name);
    const found = await this.#attempts.find({ _id: { $in: names } }, options).toArray();
    return new Map(found.map(({ _id, atMs }) => [_id, atMs]));
  }

  async #add(
    counters: readonly AttemptCounter[],
    events: Events,
    tx: ClientSession,
  ): Promise<void> {
    const changed = new Map(events);
    for (const { name, nowMs, windowMs } of counters) {
      const kept = (changed.get(name) ?? []).filter((atMs) => atMs > nowMs - keptMs(windowMs));
      changed.set(name, [...kept, nowMs]);
    }
    for (const { name, windowMs } of counters) {
      const atMs = changed.get(name) ?? [];
      const attempts = { atMs, endsAtMs: Math.max(...atMs) + windowMs };
      await this.#attempts.replaceOne({ _id: name }, attempts, { upsert: true, session: tx });
    }
  }

  /** Drops counters whose events have all left the window; what is not done now, the next count does. */
  async #dropEnded(counters: readonly AttemptCounter[]): Promise<void> {
    const endsMs = counters.map(({ nowMs, windowMs }) => nowMs + windowMs - keptMs(windowMs));
    try {
      await this.#attempts.deleteMany({ endsAtMs: { $lte: Math.min(...endsMs) } });
    } catch {
      // The count is committed and that is what matters.
    }
  }
}

/** How long an event is kept: longer than it counts, for callers whose clock is behind. */
function keptMs(windowMs: number): number {
  return 2 * windowMs;
}

function longestWait(counters: readonly AttemptCounter[], events: Events): number | null {
  const waits = counters
    .map((counter) => waitMs(counter, events.get(counter.name) ?? []))
    .filter((ms) => ms !== null);
  return waits.length === 0 ? null : Math.ceil(Math.max(...waits) / 1000);
}

function waitMs(counter: AttemptCounter, events: readonly number[]): number | null {
  const { limit, windowMs, nowMs } = counter;
  const counted = events.filter((atMs) => Math.abs(atMs - nowMs) < windowMs).sort((a, b) => b - a);
  const limiting = counted[limit - 1];
  return limiting === undefined ? null : limiting + windowMs - nowMs;
}
