// Appends to audit chains, keeps their signed heads, and names people there by pseudonyms. D-6.5.
import {
  type AdminAct,
  actedOnRowText,
  actedOnText,
  adminEntry,
  type FileAct,
  type RowAct,
  withCounts,
} from "../../domain/reputation/audit/admin-entry.ts";
import {
  type AuditEntry,
  type AuditRecord,
  emptyChain,
  planAppend,
  type WrittenChain,
} from "../../domain/reputation/audit/audit-chain.ts";
import { isSignedHead } from "../../domain/reputation/audit/audit-check.ts";
import { chainCountInput } from "../../domain/reputation/audit/kept-heads.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { Damaged, type Transaction } from "../../ports/documents.ts";
import { SECRETS, SUBJECTS, type SubjectDocument } from "../account-collections.ts";
import {
  AUDIT,
  type ChainCountDocument,
  FIRST_LOOKUP,
  LOOKUP_LOG,
  type LookupLogDocument,
} from "../lookup-collections.ts";
import { makeBlock } from "./audit-blocks.ts";

/** The result of an append, once it is committed. */
export interface Appended {
  readonly written: WrittenChain;
  readonly records: readonly AuditRecord[];
}

const CHAIN_ID_BYTES = 8;

export class AuditChains {
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  readonly #subjects: Subjects;
  /** The chain of the acts of administrators in this process, begun or not. */
  #actsChainId: string;

  constructor(mac: Mac, auditKey: Uint8Array, subjects: Subjects) {
    this.#mac = mac;
    this.#key = auditKey;
    this.#subjects = subjects;
    this.#actsChainId = this.#newChainId();
  }

  /** Begins a chain, within a body. Numbers of removed chains are not given again. */
  async begin(tx: Transaction, chainId = this.#newChainId()): Promise<WrittenChain> {
    const [[counted]] = await tx.read({ from: AUDIT, keys: [["chain_count"]] });
    const chains = ((counted as ChainCountDocument | undefined)?.chains ?? 0) + 1;
    const signature = this.#sign(chainCountInput({ chains }));
    tx.put(AUDIT, { kind: "chain_count", chains, signature });
    tx.put(LOOKUP_LOG, { kind: "tail", chainId, indexedSeq: 0 });
    tx.put(SECRETS, FIRST_LOOKUP);
    return { ...emptyChain(chainId), chainNumber: chains };
  }

  /** Appends entries of one moment, 1 or more, and moves the head, within a body. */
  append(tx: Transaction, chain: WrittenChain, entries: readonly AuditEntry[]): Appended {
    const { records, head } = planAppend(chain, entries, (text) => this.#sign(text));
    const { statement: written, signature } = head;
    tx.put(LOOKUP_LOG, { kind: "head", ...written, signature });
    tx.put(LOOKUP_LOG, makeBlock(records));
    return { written, records };
  }

  /** Notes an act of an administrator within the body that does it, in another chain than the lookups of this process. D-8.8. */
  async noteAct(tx: Transaction, act: AdminAct): Promise<void> {
    const { actedOn } = act;
    const [[subject]] = await tx.read({ from: SUBJECTS, keys: keysOf(actedOn) });
    await this.#note(tx, act, this.#subjects.hmacOfActedOn(actedOn, subject));
  }

  async noteRowAct(tx: Transaction, act: RowAct): Promise<void> {
    await this.#note(tx, act, this.#sign(actedOnRowText(act)));
  }

  /** An act with a file is about the whole table. */
  async noteFileAct(tx: Transaction, act: FileAct): Promise<void> {
    const { table } = act;
    const hmac = this.#sign(actedOnRowText({ table, key: "" }));
    await this.#note(tx, { ...act, table: withCounts(act) }, hmac);
  }

  async #note(
    tx: Transaction,
    act: AdminAct | RowAct | FileAct,
    subjectHmac: string,
  ): Promise<void> {
    const { by } = act;
    const accountId = by === null ? "" : await this.#subjects.makeId(by, tx);
    const entry = adminEntry(act, { accountId, subjectHmac, nowMs: tx.nowMs });
    this.append(tx, await this.#chainOfActs(tx), [entry]);
  }

  /** The chain as its head tells it, as bodies may run again; another one where that was closed or changed. */
  async #chainOfActs(tx: Transaction): Promise<WrittenChain> {
    const chainId = this.#actsChainId;
    const ends = ["head", "tail"].map((kind) => [kind, chainId]);
    const lastBlock = { within: [["block", chainId]], isReverse: true, limit: 1 };
    const [[head, tail], [last]] = await tx.read(
      { from: LOOKUP_LOG, asStored: { within: ends } },
      { from: LOOKUP_LOG, keysOf: lastBlock },
    );
    if (head === undefined) return await this.begin(tx, chainId);
    const chain = tail === undefined ? null : this.#chainOf(head);
    const lastSeq = Number(last?.at(-1) ?? 0);
    if (chain !== null && lastSeq <= chain.seq) return chain;
    this.#actsChainId = this.#newChainId();
    return await this.begin(tx, this.#actsChainId);
  }

  /** Null where another document stands there, or the signature is not of the head. */
  #chainOf(head: LookupLogDocument | Damaged): WrittenChain | null {
    if (head instanceof Damaged || head.kind !== "head") return null;
    const { kind: _kind, signature, ...statement } = head;
    const isSigned = (input: string, by: string) => this.#sign(input) === by;
    return isSignedHead({ statement, signature }, { isSigned }) ? statement : null;
  }

  #newChainId(): string {
    return this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
  }

  #sign(input: string): string {
    return this.#mac.hmacHex(this.#key, input);
  }
}

const ID_BYTES = 8;
const KEY_BYTES = 32;

/** The pseudonyms of people in the audit: an id for callers, an HMAC for looked-up people. */
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
