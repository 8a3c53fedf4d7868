// The pseudonyms of the audit: an id for callers, an HMAC for looked-up people.
import { actedOnText } from "../../domain/reputation/audit/admin-entry.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import type { Transaction } from "../../ports/documents.ts";
import { SUBJECTS, type SubjectDocument } from "../account-collections.ts";

const ID_BYTES = 8;
const KEY_BYTES = 32;

export class Subjects {
  readonly #mac: Mac;
  readonly #auditKey: Uint8Array;

  constructor(mac: Mac, auditKey: Uint8Array) {
    this.#mac = mac;
    this.#auditKey = auditKey;
  }

  /** A new id and key, not kept yet. */
  make(username: string): SubjectDocument {
    return { username, id: this.#randomHex(ID_BYTES), key: this.#randomHex(KEY_BYTES) };
  }

  /** The id of an account, made when it has none, within a transaction. */
  async makeId(username: string, tx: Transaction): Promise<string> {
    const [[found]] = await tx.read({ from: SUBJECTS, keys: [[username]] });
    if (found !== undefined) return found.id;
    const made = this.make(username);
    tx.put(SUBJECTS, made);
    return made.id;
  }

  /** The HMAC of a person who has an account, or was found. */
  hmacOf({ username, key }: SubjectDocument): string {
    return this.#mac.hmacHex(Uint8Array.fromHex(key), username);
  }

  /** The HMAC of a name that nobody has, or whose profile is hidden: no key is kept for it. */
  hmacOfAbsent(username: string): string {
    return this.#mac.hmacHex(this.#auditKey, `repsync.audit.nobody.v1\n${username}`);
  }

  /** The HMAC of a person acted on, by their own key where they have one. */
  hmacOfActedOn(username: string, subject: SubjectDocument | undefined): string {
    const key = subject === undefined ? this.#auditKey : Uint8Array.fromHex(subject.key);
    return this.#mac.hmacHex(key, actedOnText(username));
  }

  /** All HMACs that the log may have of a name. */
  everyHmac(username: string, subject: SubjectDocument | undefined): readonly string[] {
    const own =
      subject === undefined ? [] : [this.hmacOf(subject), this.hmacOfActedOn(username, subject)];
    return [...own, this.hmacOfAbsent(username), this.hmacOfActedOn(username, undefined)];
  }

  #randomHex(bytes: number): string {
    return this.#mac.randomBytes(bytes).toHex();
  }
}
