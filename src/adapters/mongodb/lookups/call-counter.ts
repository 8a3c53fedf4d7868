// Counts the calls of accounts, in one of two ways (docs/decisions/0038):
//
// Within the transaction of the batch, where no other instance counts for the account and its document names this one:
// so whoever finds the document held by a transaction knows whose it is.
//
// Else beside it, by a write of its own that is not waited for on other members. It stands between the first read and the
// commit of a transaction that are, so when that commits, it is kept too: a primary that committed was the primary all
// the while, and what it wrote before is in the same log before it. When it does not commit, the calls are given back.
import type { ClientSession, Collection, Db } from "mongodb";
import { chargeCalls, type MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import type { EffectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import { monthOf } from "../../../domain/reputation/accounts/quota.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import {
  type CallUsage,
  readingOf,
  runsOf,
  type StoredCharge,
  type UsageDocument,
  usageFields,
  usageId,
  usageOf,
} from "../accounts/account-usage.ts";
import { addRun, takeFromRun } from "../accounts/call-runs.ts";
import { DURABLE } from "../driver/durable.ts";
import { hasCode, innerError } from "../driver/errors.ts";
import { insertNew } from "../driver/insert-new.ts";
import { ledgerOf } from "../driver/ledger-documents.ts";
import type { LedgerWrite } from "../driver/ledger-writes.ts";
import { endSessions, nameOfSession } from "../driver/open-sessions.ts";

/** Calls of one account that come at the same moment. */
export interface CountedCalls {
  readonly accountId: string;
  readonly limits: EffectiveLimits;
  readonly calls: number;
  readonly nowMs: number;
  /** As it was read a moment ago. */
  readonly usage: CallUsage;
}

/** A charge as it is if nobody else counts meanwhile. */
export interface PlannedCharge {
  readonly counted: CountedCalls;
  /** Its name. */
  readonly turn: string;
  readonly charge: MeterCharge;
  /** What holds it, in place of the document of the version that was read. */
  readonly after: UsageDocument;
  /** True when this instance has counted calls of the account, and within the last minutes no other. */
  readonly isAlone: boolean;
}

/** Documents of a few kilobytes. */
const MAX_HELD = 1_000;
const VERSION_BYTES = 8;
const CHARGE_KEPT_MS = 300_000;
const MAX_TIME_EXPIRED = 50;
/** Longer than a transaction that goes on holds a document. */
const MAX_WAIT_MS = 1_000;
/** Kept by the commit that follows. */
const NOT_WAITED_FOR = { writeConcern: { w: 1 }, maxTimeMS: MAX_WAIT_MS } as const;
const WAITED_FOR = { writeConcern: DURABLE, maxTimeMS: MAX_WAIT_MS } as const;

/** Counts the calls of this instance. */
export class CallCounter {
  readonly #db: Db;
  readonly #collection: Collection<UsageDocument>;
  readonly #mac: Mac;
  readonly #instance: string;
  /** Charges that no commit has confirmed, with their accounts. */
  readonly #unconfirmed = new Map<string, string>();
  /** The documents that its transactions wrote, the last at the end. */
  readonly #held = new Map<string, UsageDocument>();

  /** `session` is the one in which all transactions of the instance run that are charged for. */
  constructor({ db, mac, session }: { readonly db: Db; mac: Mac; session: ClientSession }) {
    this.#db = db;
    this.#collection = ledgerOf(db);
    this.#mac = mac;
    this.#instance = nameOfSession(session);
  }

  /** An account's document as it is if nobody has written it since this instance did; null when that is not known. */
  held(accountId: string): UsageDocument | null {
    return this.#held.get(usageId(accountId)) ?? null;
  }

  /** Plans to charge an account, under the name of an earlier plan when it is the same charge. */
  plan(counted: CountedCalls, turn = this.#randomHex()): PlannedCharge {
    const { accountId, limits, calls, usage } = counted;
    const { atMs } = usage;
    const reading = readingOf(usage, limits.callsPerMinute);
    const charge = chargeCalls(reading, { calls, limits, nowMs: atMs });
    const stored = { instance: this.#instance, turn, atMs, calls: charge.admitted };
    const others = this.#othersOf(usage);
    const after = this.#documentOf(accountId, {
      runs: addRun(usage.runs, stored),
      month: charge.month,
      charges: [...others, stored],
    });
    const isNamed = usage.charges.some(({ instance }) => instance === this.#instance);
    return { counted, turn, charge, after, isAlone: isNamed && others.length === 0 };
  }

  /** Writes that charge accounts as planned, within a transaction; `confirm` or `giveBack` follow. */
  chargeWithin(planned: readonly PlannedCharge[]): readonly LedgerWrite[] {
    return this.#begin(planned).map(replacementOf);
  }

  /**
   * Charges accounts as planned, or exactly otherwise where somebody else has counted. To be called between the first
   * read of a transaction and its commit; `confirm` or `giveBack` follow. Gives the charges by account, null when it is
   * gone.
   */
  async charge(
    planned: readonly PlannedCharge[],
  ): Promise<ReadonlyMap<string, MeterCharge | null>> {
    const known = this.#begin(planned).filter(({ counted }) => counted.usage.version !== null);
    const areDone = await this.#patiently(
      known.flatMap(({ counted }) => counted.usage.charges),
      () => this.#replaceTogether(known),
    );
    const charges = planned.map(async (plan) => {
      const isDone = areDone && known.includes(plan);
      const charge = isDone || !isWritten(plan) ? plan.charge : await this.#finish(plan);
      return [plan.counted.accountId, charge] as const;
    });
    return new Map(await Promise.all(charges));
  }

  /** Those that are to be written, which are to be confirmed then. Of the others nothing proves that it is still so. */
  #begin(planned: readonly PlannedCharge[]): readonly PlannedCharge[] {
    for (const { after } of planned) this.#held.delete(after._id);
    const written = planned.filter(isWritten);
    for (const { turn, counted } of written) this.#unconfirmed.set(turn, counted.accountId);
    return written;
  }

  /** Writes the documents that are there already, in one message; false when some had changed. */
  async #replaceTogether(planned: readonly PlannedCharge[]): Promise<boolean> {
    const writes = planned.map(replacementOf).map(({ q: filter, u: replacement }) => {
      return { replaceOne: { filter, replacement } };
    });
    if (writes.length === 0) return true;
    const options = { ...NOT_WAITED_FOR, ordered: false };
    const { matchedCount } = await this.#collection.bulkWrite(writes, options);
    return matchedCount === writes.length;
  }

  /** Charges an account that is new, or for which it is not known whether the first try took effect. */
  async #finish(first: PlannedCharge): Promise<MeterCharge | null> {
    const { counted, turn } = first;
    const { accountId, nowMs, usage } = counted;
    let plan = first;
    const isNew = usage.version === null;
    if (isNew && (await this.#replace(null, plan.after, NOT_WAITED_FOR))) return plan.charge;
    for (;;) {
      const found = await this.#collection.findOne({ _id: usageId(accountId) });
      if (found === null && plan.counted.usage.version !== null) return null;
      // With others that failed, or the reply to the write was lost, and the driver asked again.
      if (found?.charges.some((other) => other.turn === turn) === true) return plan.charge;
      plan = this.plan({ ...counted, usage: usageOf(found, nowMs) }, turn);
      if (!isWritten(plan)) return plan.charge;
      if (await this.#replace(found, plan.after, NOT_WAITED_FOR)) return plan.charge;
    }
  }

  /** What was charged is committed; `within` are the charges of the transaction itself. */
  confirm(within: readonly PlannedCharge[]): void {
    this.#unconfirmed.clear();
    for (const { after } of within.filter(isWritten)) this.#held.set(after._id, after);
    const tooMany = Math.max(0, this.#held.size - MAX_HELD);
    for (const id of this.#held.keys().take(tooMany)) this.#held.delete(id);
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
      const found = await this.#collection.findOne({ _id: usageId(accountId) });
      const charge = found?.charges.find((stored) => stored.turn === turn);
      if (found === null || charge === undefined) return;
      const { month, monthCalls } = found;
      const calls = month === monthOf(charge.atMs) ? charge.calls : 0;
      const given = this.#documentOf(accountId, {
        runs: takeFromRun(runsOf(found), charge),
        month: { month, used: Math.max(0, monthCalls - calls) },
        charges: found.charges.filter((stored) => stored !== charge),
      });
      if (await this.#replace(found, given, WAITED_FOR)) return;
    }
  }

  /** Writes an account's document if it still is the one that was read, or still is not there. */
  async #replace(
    found: UsageDocument | null,
    { _id, ...fields }: UsageDocument,
    options: typeof NOT_WAITED_FOR | typeof WAITED_FOR,
  ): Promise<boolean> {
    if (found !== null) {
      const isSame = { _id, version: found.version };
      const { matchedCount } = await this.#patiently(found.charges, () =>
        this.#collection.replaceOne(isSame, fields, options),
      );
      return matchedCount === 1;
    }
    return await insertNew(this.#collection, { _id, ...fields }, options);
  }

  /**
   * Makes a write that may have to wait for a transaction of an instance that the document names. One that is held too
   * long is ended, and the write then fails for a passing reason.
   */
  async #patiently<T>(charges: readonly StoredCharge[], write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      const isHeld = hasCode(innerError(error), MAX_TIME_EXPIRED);
      if (isHeld)
        await endSessions(
          this.#db,
          charges.map(({ instance }) => instance),
        );
      throw error;
    }
  }

  #documentOf(
    accountId: string,
    usage: Pick<CallUsage, "runs" | "month" | "charges">,
  ): UsageDocument {
    return { _id: usageId(accountId), ...usageFields(usage), version: this.#randomHex() };
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

/** Puts the charge in place of the version that was read. */
function replacementOf({ counted: { usage }, after }: PlannedCharge) {
  const { _id, ...u } = after;
  return { q: { _id, version: usage.version ?? "" }, u };
}

/** Whether there is anything to charge: refused calls change nothing. */
function isWritten({ charge }: PlannedCharge): boolean {
  return charge.admitted > 0;
}
