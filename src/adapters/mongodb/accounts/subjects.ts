// The pseudonyms of the audit: an id for callers, an HMAC for looked-up people.
import type { ClientSession, Collection, Db, FindOptions } from "mongodb";
import { actedOnText } from "../../../domain/reputation/audit/admin-entry.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { InternalCollection } from "../driver/collections.ts";

/** Connects a person with their audit records, by username; erased with the person. */
export const SUBJECTS: InternalCollection = {
  name: "repsync_subjects",
  indexes: [{ name: "repsync_id", key: { id: 1 }, unique: true }],
};

export interface SubjectDocument {
  /** Username. */
  readonly _id: string;
  readonly id: string;
  /** 64 hexadecimal digits. */
  readonly key: string;
}

const ID_BYTES = 8;
const KEY_BYTES = 32;

export class Subjects {
  readonly #collection: Collection<SubjectDocument>;
  readonly #mac: Mac;
  readonly #auditKey: Uint8Array;

  constructor(db: Db, mac: Mac, auditKey: Uint8Array) {
    this.#collection = db.collection(SUBJECTS.name);
    this.#mac = mac;
    this.#auditKey = auditKey;
  }

  /** A new id and key, not kept yet. */
  make(username: string): SubjectDocument {
    return { _id: username, id: this.#randomHex(ID_BYTES), key: this.#randomHex(KEY_BYTES) };
  }

  /** Keeps new ids and keys, within a transaction. */
  async insert(subjects: readonly SubjectDocument[], tx: ClientSession): Promise<void> {
    if (subjects.length > 0) await this.#collection.insertMany([...subjects], { session: tx });
  }

  /** The id of an account, made when it has none, within a transaction. */
  async makeId(username: string, tx: ClientSession): Promise<string> {
    const found = await this.find(username, tx);
    if (found !== null) return found.id;
    const made = this.make(username);
    await this.insert([made], tx);
    return made.id;
  }

  /** The ids and keys of people by username, as far as they have any. */
  async findAll(
    usernames: readonly string[],
    options: FindOptions,
  ): Promise<ReadonlyMap<string, SubjectDocument>> {
    const found = await this.#collection.find({ _id: { $in: usernames } }, options).toArray();
    return new Map(found.map((document) => [document._id, document]));
  }

  /** A person's id and key; null when they have none. */
  async find(username: string, tx: ClientSession, options = {}) {
    return await this.#collection.findOne({ _id: username }, { ...options, session: tx });
  }

  /** The usernames of accounts by id, as far as there are any. */
  async namesOf(
    ids: readonly string[],
    tx: ClientSession,
    options = {},
  ): Promise<ReadonlyMap<string, string>> {
    const filter = { id: { $in: [...new Set(ids)] } };
    const found = await this.#collection.find(filter, { ...options, session: tx }).toArray();
    return new Map(found.map(({ _id, id }) => [id, _id]));
  }

  /**
   * Removes a person's id and key, within the caller's transaction, and returns the id; null when there was none. It
   * always writes, so a lookup that makes them at the same moment conflicts and starts again.
   */
  async remove(username: string, tx: ClientSession): Promise<string | null> {
    const placeholder = this.make(username);
    const found = await this.#collection.findOneAndUpdate(
      { _id: username },
      { $setOnInsert: { id: placeholder.id, key: placeholder.key } },
      { upsert: true, returnDocument: "before", session: tx },
    );
    await this.#collection.deleteOne({ _id: username }, { session: tx });
    return found?.id ?? null;
  }

  /** The HMAC of a person who can be found. */
  hmacOf({ _id, key }: SubjectDocument): string {
    return this.#mac.hmacHex(Uint8Array.fromHex(key), _id);
  }

  /** The HMAC of whom an administrator did something to, by their own key where they have one; within a transaction. */
  async hmacOfActedOn(username: string, tx: ClientSession): Promise<string> {
    const found = await this.find(username, tx);
    const key = found === null ? this.#auditKey : Uint8Array.fromHex(found.key);
    return this.#mac.hmacHex(key, actedOnText(username));
  }

  /** All HMACs that may stand for a name in the log: with and without a key of its own, looked up or acted on. */
  everyHmac(username: string, subject: SubjectDocument | null): readonly string[] {
    const actedOn = actedOnText(username);
    return [
      ...(subject === null
        ? []
        : [this.hmacOf(subject), this.#mac.hmacHex(Uint8Array.fromHex(subject.key), actedOn)]),
      this.hmacOfAbsent(username),
      this.#mac.hmacHex(this.#auditKey, actedOn),
    ];
  }

  /** The HMAC of a name without a public profile: no key is kept for it. */
  hmacOfAbsent(username: string): string {
    return this.#mac.hmacHex(this.#auditKey, `repsync.audit.nobody.v1\n${username}`);
  }

  #randomHex(bytes: number): string {
    return this.#mac.randomBytes(bytes).toHex();
  }
}
