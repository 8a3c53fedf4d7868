// What accounts have used: a document each, by the id that stands for the account in the audit.
//
// A count is one write of its own and no part of a transaction: what a killed instance leaves open of a transaction holds
// its documents for a minute, and an account's document is everybody's. That write is not waited for on other members.
// It stands between the first read and the commit of a transaction that are, so when that commits, it is kept too: a
// primary that committed was the primary all the while, and what it wrote before is in the same log before it. When it
// does not commit, the calls are given back. docs/decisions/0038
import { Binary, type Collection, type Db } from "mongodb";
import {
  chargeCalls,
  type MeterCharge,
  type MeterReading,
} from "../../domain/reputation/call-meter.ts";
import type { EffectiveLimits } from "../../domain/reputation/plan.ts";
import { type MonthUsage, monthOf } from "../../domain/reputation/sliding-window.ts";
import type { Mac } from "../../ports/mac.ts";
import {
  addRun,
  blockingMs,
  type CallRuns,
  NO_RUNS,
  settleRuns,
  takeFromRun,
} from "./call-runs.ts";
import type { InternalCollection } from "./internal-collections.ts";
import { hasCode } from "./mongo-errors.ts";

/** The documents by account id. */
export const USAGE: InternalCollection = { name: "repsync_usage" };

/** What is stored of an account's calls. */
export interface UsageDocument extends Omit<CallRuns, "packed"> {
  /** Account id. */
  readonly _id: string;
  readonly packed: Binary;
  readonly month: string;
  readonly monthCalls: number;
  /** Another one with every write. */
  readonly version: string;
  /** The last charge of each instance that had one within the last minutes. */
  readonly charges: readonly StoredCharge[];
}

/** A charge as far as it is needed to give it back. */
interface StoredCharge {
  readonly instance: string;
  /** Another one for every charge of the instance. */
  readonly turn: string;
  readonly atMs: number;
  readonly calls: number;
}

/** What an account has used, at one moment. */
export interface CallUsage {
  /** The moment; later than asked for when another instance has counted later already. */
  readonly atMs: number;
  readonly runs: CallRuns;
  readonly month: MonthUsage | null;
  readonly version: string | null;
  readonly charges: readonly StoredCharge[];
}

/** Calls of one account that come at the same moment. */
export interface CountedCalls {
  readonly accountId: string;
  readonly limits: EffectiveLimits;
  readonly calls: number;
  readonly nowMs: number;
  /** As it was read a moment ago. */
  readonly usage: CallUsage;
}

/** A charge as it is if nobody else counts meanwhile, and the document that holds it. */
export interface PlannedCharge {
  readonly counted: CountedCalls;
  /** Its name. */
  readonly turn: string;
  readonly charge: MeterCharge;
  /** `version` is the one that it replaces. */
  readonly after: CallUsage;
  /** True when no other instance has counted calls of the account within the last minutes. */
  readonly isAlone: boolean;
}

const VERSION_BYTES = 8;
/** A document that is later than this was written before the clock was set back, not by a faster instance. */
const MAX_LEAD_MS = 5_000;
const CHARGE_KEPT_MS = 300_000;
const DUPLICATE_KEY = 11000;
/** Kept by the commit that follows. */
const NOT_WAITED_FOR = { writeConcern: { w: 1 } } as const;
const DURABLE = { writeConcern: { w: "majority", j: true } } as const;

/** The usage that a document tells at a time; undefined for an account that made no call. */
export function usageOf(document: UsageDocument | null | undefined, nowMs: number): CallUsage {
  if (document === null || document === undefined) {
    return { atMs: nowMs, runs: NO_RUNS, month: null, version: null, charges: [] };
  }
  const { lastMs, month, monthCalls, version, charges } = document;
  const isLead = lastMs > nowMs && lastMs <= nowMs + MAX_LEAD_MS;
  const atMs = isLead ? lastMs : nowMs;
  const runs = settleRuns(runsOf(document), atMs);
  return { atMs, runs, month: { month, used: monthCalls }, version, charges };
}

function runsOf({ calls, firstMs, lastMs, packed }: UsageDocument): CallRuns {
  return { calls, firstMs, lastMs, packed: packed.buffer.subarray(0, packed.position) };
}

/** What the meter has to know. */
export function readingOf({ runs, month }: CallUsage, callsPerMinute: number): MeterReading {
  return { minuteCalls: runs.calls, blockingMs: blockingMs(runs, callsPerMinute), month };
}

/** Counts the calls of this instance. */
export class CallCounter {
  readonly #collection: Collection<UsageDocument>;
  readonly #mac: Mac;
  readonly #instance: string;
  /** Charges that no commit has confirmed, with their accounts. */
  readonly #unconfirmed = new Map<string, string>();

  constructor({ db, mac }: { readonly db: Db; readonly mac: Mac }) {
    this.#collection = db.collection(USAGE.name);
    this.#mac = mac;
    this.#instance = this.#randomHex();
  }

  /**
   * Plans to charge an account, under the name of an earlier plan when it is the same charge; `confirm` or `giveBack`
   * follow, whether `charge` does or not.
   */
  plan(counted: CountedCalls, turn = this.#randomHex()): PlannedCharge {
    const { accountId, limits, calls, usage } = counted;
    const { atMs } = usage;
    const reading = readingOf(usage, limits.callsPerMinute);
    const charge = chargeCalls(reading, { calls, limits, nowMs: atMs });
    if (charge.admitted > 0) this.#unconfirmed.set(turn, accountId);
    const stored = { instance: this.#instance, turn, atMs, calls: charge.admitted };
    const runs = addRun(usage.runs, stored);
    const others = this.#othersOf(usage);
    const after = { ...usage, runs, month: charge.month, charges: [...others, stored] };
    return {
      ...{ counted, turn, charge, after },
      isAlone: usage.version !== null && others.length === 0,
    };
  }

  /**
   * Charges accounts as planned, or exactly otherwise where somebody else has counted. To be called between the first
   * read of a transaction and its commit. Gives the charges by account, null when it is gone.
   */
  async charge(
    planned: readonly PlannedCharge[],
  ): Promise<ReadonlyMap<string, MeterCharge | null>> {
    const written = planned.filter(({ charge }) => charge.admitted > 0);
    const areDone = await this.#replaceTogether(written);
    const charges = planned.map(async (plan) => {
      const { accountId } = plan.counted;
      if (plan.charge.admitted === 0) return [accountId, plan.charge] as const;
      const isDone = areDone && plan.counted.usage.version !== null;
      return [accountId, isDone ? plan.charge : await this.#finish(plan)] as const;
    });
    return new Map(await Promise.all(charges));
  }

  /** Writes the documents that are there already, in one message; false when some had changed. */
  async #replaceTogether(planned: readonly PlannedCharge[]): Promise<boolean> {
    const writes = planned
      .filter(({ after }) => after.version !== null)
      .map(({ counted: { accountId: _id }, after }) => {
        const filter = { _id, version: after.version ?? "" };
        return { replaceOne: { filter, replacement: this.#fieldsOf(after) } };
      });
    if (writes.length === 0) return true;
    const options = { ...NOT_WAITED_FOR, ordered: false };
    const { matchedCount } = await this.#collection.bulkWrite(writes, options);
    return matchedCount === writes.length;
  }

  /** Charges an account that is new, or for which it is not known whether the first try took effect. */
  async #finish(first: PlannedCharge): Promise<MeterCharge | null> {
    const { counted, turn } = first;
    const { accountId, nowMs } = counted;
    let plan = first;
    const isNew = counted.usage.version === null;
    if (isNew && (await this.#replace(accountId, plan.after, NOT_WAITED_FOR))) return plan.charge;
    for (;;) {
      const found = await this.#collection.findOne({ _id: accountId });
      if (found === null && plan.after.version !== null) return null;
      // With others that failed, or the reply to the write was lost, and the driver asked again.
      if (found?.charges.some((other) => other.turn === turn) === true) return plan.charge;
      plan = this.plan({ ...counted, usage: usageOf(found, nowMs) }, turn);
      if (plan.charge.admitted === 0) return plan.charge;
      if (await this.#replace(accountId, plan.after, NOT_WAITED_FOR)) return plan.charge;
    }
  }

  /** What was charged is committed. */
  confirm(): void {
    this.#unconfirmed.clear();
  }

  /** Takes back what was charged and not confirmed, as far as it was written. May be called again when it fails. */
  async giveBack(): Promise<void> {
    for (const [turn, accountId] of this.#unconfirmed) {
      await this.#giveBackOne(turn, accountId);
      this.#unconfirmed.delete(turn);
    }
  }

  async #giveBackOne(turn: string, accountId: string): Promise<void> {
    for (;;) {
      const found = await this.#collection.findOne({ _id: accountId });
      const charge = found?.charges.find((stored) => stored.turn === turn);
      if (found === null || charge === undefined) return;
      const { month, monthCalls, version } = found;
      const calls = month === monthOf(charge.atMs) ? charge.calls : 0;
      const given = {
        runs: takeFromRun(runsOf(found), charge),
        month: { month, used: Math.max(0, monthCalls - calls) },
        version,
        charges: found.charges.filter((stored) => stored !== charge),
      };
      if (await this.#replace(accountId, given, DURABLE)) return;
    }
  }

  /** Writes an account's document if it still is of the version that was read. */
  async #replace(
    _id: string,
    usage: Omit<CallUsage, "atMs">,
    options: typeof NOT_WAITED_FOR | typeof DURABLE,
  ): Promise<boolean> {
    const { version } = usage;
    const fields = this.#fieldsOf(usage);
    if (version !== null) {
      const isSame = { _id, version };
      const { matchedCount } = await this.#collection.replaceOne(isSame, fields, options);
      return matchedCount === 1;
    }
    try {
      await this.#collection.insertOne({ _id, ...fields }, options);
      return true;
    } catch (error) {
      if (hasCode(error, DUPLICATE_KEY)) return false;
      throw error;
    }
  }

  #fieldsOf({ runs, month, charges }: Omit<CallUsage, "atMs">): Omit<UsageDocument, "_id"> {
    return {
      ...runs,
      packed: new Binary(runs.packed),
      month: month?.month ?? "",
      monthCalls: month?.used ?? 0,
      version: this.#randomHex(),
      charges,
    };
  }

  #othersOf({ charges, atMs }: CallUsage): readonly StoredCharge[] {
    const isKept = (charge: StoredCharge) =>
      charge.instance !== this.#instance && charge.atMs > atMs - CHARGE_KEPT_MS;
    return charges.filter(isKept);
  }

  #randomHex(): string {
    return this.#mac.randomBytes(VERSION_BYTES).toHex();
  }
}
