import type { ClientSession, Collection, Db, FindOptions } from "mongodb";
import type { ErasedName } from "../../../domain/reputation/accounts/membership.ts";
import type { MonthUsage } from "../../../domain/reputation/accounts/quota.ts";
import type { Erasure } from "../../../domain/sync/people/erasure.ts";
import { cutBatches, type InternalCollection } from "../driver/collections.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import { beginTurns } from "../driver/turns.ts";

/** The names that were erased, as HMACs. */
export const ERASED_NAMES: InternalCollection = { name: "repsync_erased_names" };

interface ErasedDocument extends ErasedName {
  /** The HMAC of the name. */
  readonly _id: string;
}

/** What the reputation half brings. */
interface NameTools {
  /** The HMAC that stands for a name. */
  readonly hmacOf: (username: string) => string;
  /** Lets calls of the month count for a new account, within the caller's transaction. */
  readonly keepCalls: (username: string, month: MonthUsage, tx: ClientSession) => Promise<void>;
}

/** HMACs that one command looks up. */
const LOOKUP = { maxItems: 10_000, maxBytes: 8 * 1024 * 1024, bytesOf: () => 100 };

export class ErasedNames {
  readonly #collection: Collection<ErasedDocument>;
  readonly #clock: Stopwatch;
  #tools: NameTools | null = null;

  constructor(db: Db, clock: Stopwatch) {
    this.#collection = db.collection(ERASED_NAMES.name);
    this.#clock = clock;
  }

  /** Until then no name may have been erased. */
  open(tools: NameTools): void {
    this.#tools = tools;
  }

  /** The erasures of those of these names that were erased. */
  async findAll(
    usernames: readonly string[],
    options: FindOptions,
  ): Promise<ReadonlyMap<string, Erasure>> {
    const found = new Map<string, Erasure>();
    const isAny = (await this.#collection.findOne({}, options)) !== null;
    if (usernames.length === 0 || !isAny) return found;
    const names = new Map<string, string>();
    const turns = beginTurns(this.#clock);
    for (const name of usernames) {
      if (turns.isOver) await turns.next();
      names.set(this.#open().hmacOf(name), name);
    }
    for (const $in of cutBatches([...names.keys()], LOOKUP)) {
      for (const { _id, at, isTaken } of await this.#collection
        .find({ _id: { $in } }, options)
        .toArray()) {
        found.set(names.get(_id) ?? "", { at, isTaken });
      }
    }
    return found;
  }

  /** Within the caller's transaction; null for a name that was never erased. */
  async find(username: string, tx: ClientSession): Promise<ErasedName | null> {
    const isAny = (await this.#collection.findOne({}, { session: tx })) !== null;
    if (!isAny) return null;
    return await this.#collection.findOne({ _id: this.#hmacOf(username) }, { session: tx });
  }

  /** Remembers an erasure, within the caller's transaction; the name is taken. */
  async keep(
    username: string,
    erased: Omit<ErasedName, "isTaken">,
    tx: ClientSession,
  ): Promise<void> {
    const { at, month } = erased;
    const _id = this.#hmacOf(username);
    const document = { at, month, isTaken: true };
    await this.#collection.replaceOne({ _id }, document, { upsert: true, session: tx });
  }

  /** Within the caller's transaction; false when the name was not taken. */
  async release(username: string, tx: ClientSession): Promise<boolean> {
    const isIt = { _id: this.#hmacOf(username), isTaken: true };
    const released = { $set: { isTaken: false } };
    const { matchedCount } = await this.#collection.updateOne(isIt, released, { session: tx });
    return matchedCount > 0;
  }

  /** A new person has the name, within the caller's transaction. */
  async begin(username: string, tx: ClientSession): Promise<void> {
    const erased = await this.find(username, tx);
    if (erased === null) return;
    await this.release(username, tx);
    if (erased.month !== null) await this.#open().keepCalls(username, erased.month, tx);
  }

  #hmacOf(username: string): string {
    return this.#open().hmacOf(username);
  }

  #open(): NameTools {
    if (this.#tools === null) throw new Error("Erased names cannot be told before they are opened");
    return this.#tools;
  }
}
