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
import { type Key, keysOf } from "../../domain/shared/document-key.ts";
import { AppError } from "../../domain/shared/errors.ts";
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
import { blockKey, makeBlock } from "./audit-blocks.ts";

/** The result of an append, once it is committed. */
export interface Appended {
  readonly written: WrittenChain;
  readonly records: readonly AuditRecord[];
}

const CHAIN_ID_BYTES = 8;

export class AuditChains {
  readonly #subjects: Subjects;
  /** The chain of the acts of administrators in this process, begun or not. */
  #actsChainId: string;

  constructor(subjects: Subjects) {
    this.#subjects = subjects;
    this.#actsChainId = this.#newChainId();
  }

  /** Begins a chain, within a body. Numbers of removed chains are not given again. */
  async begin(tx: Transaction, chainId = this.#newChainId()): Promise<WrittenChain> {
    const [[counted]] = await tx.read({ from: AUDIT, keys: [["chain_count"]] });
    const chains = ((counted as ChainCountDocument | undefined)?.chains ?? 0) + 1;
    const signature = this.#subjects.sign(chainCountInput({ chains }));
    tx.put(AUDIT, { kind: "chain_count", chains, signature });
    tx.put(LOOKUP_LOG, { kind: "tail", chainId, indexedSeq: 0 });
    tx.put(SECRETS, FIRST_LOOKUP);
    return { ...emptyChain(chainId), chainNumber: chains };
  }

  /** Appends entries of one moment, 1 or more, and moves the head, within a body. */
  append(tx: Transaction, chain: WrittenChain, entries: readonly AuditEntry[]): Appended {
    const { records, head } = planAppend(chain, entries, (text) => this.#subjects.sign(text));
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
    await this.#note(tx, act, this.#subjects.sign(actedOnRowText(act)));
  }

  /** An act with a file is about the whole table. */
  async noteFileAct(tx: Transaction, act: FileAct): Promise<void> {
    const { table } = act;
    const hmac = this.#subjects.sign(actedOnRowText({ table, key: "" }));
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
    const isSigned = (input: string, by: string) => this.#subjects.sign(input) === by;
    return isSignedHead({ statement, signature }, { isSigned }) ? statement : null;
  }

  #newChainId(): string {
    return this.#subjects.randomHex(CHAIN_ID_BYTES);
  }
}

/** Calls of an account that were counted at one moment. */
export interface CountedCalls {
  readonly accountId: string;
  readonly atMs: number;
  readonly calls: number;
}

/** A batch whose commit may have happened; its calls were answered 503. */
interface Doubt {
  /** The chain, if it happened. */
  readonly written: WrittenChain;
  readonly counted: readonly CountedCalls[];
}

interface ChainState {
  /** Null where a chain has to begin. */
  readonly chain: WrittenChain | null;
  /** Calls that are counted but were answered 503: they are given back. D-5.8. */
  readonly unanswered: readonly CountedCalls[];
}

const OTHER_CHANGED = "Another process changed the audit chain of this one";

/**
 * The chain of lookups of this process. A commit of unknown outcome leaves it in doubt until a later batch has read the chain's head
 * in its own body. If the head is where that commit would have put it, the commit happened, and its calls are taken off the counts
 * in the same body. Calls are given back only where the head moves too, so a second doubt is settled in the same way.
 */
export class OwnChain {
  #chain: WrittenChain | null = null;
  #doubts: Doubt[] = [];

  /** Keys of the chain and of those in doubt: head, tail, and the place of the next block, which has to be empty. */
  get keys(): readonly Key[] {
    const known = [this.#chain, ...this.#doubts.map(({ written }) => written)];
    const chains = known.filter((one) => one !== null);
    return chains.flatMap(({ chainId, seq }): Key[] => {
      return [["head", chainId], ["tail", chainId], blockKey(chainId, seq + 1)];
    });
  }

  /** Accounts that calls in doubt were counted for. */
  get accountsInDoubt(): readonly string[] {
    return this.#doubts.flatMap(({ counted }) => counted.map(({ accountId }) => accountId));
  }

  /**
   * The state from which a body goes on that found these documents by `keys`. A batch in doubt happened if its tip is a head; each
   * batch gave back the ones before it, so only the last one of a chain is left to give back. Throws `commit_failed` when another
   * process has changed the chain; the next batch begins another.
   */
  stateAt(found: readonly LookupLogDocument[]): ChainState {
    const heads = found.filter((doc) => doc.kind === "head");
    const isHead = ({ chainId, seq, hash }: WrittenChain) =>
      heads.some((head) => head.chainId === chainId && head.seq === seq && head.hash === hash);
    const happened = this.#doubts.filter(({ written }) => isHead(written));
    const chain = happened.at(-1)?.written ?? this.#chain;
    if (chain === null) return { chain, unanswered: [] };
    const isTaken = found.some(
      (doc) => doc.kind === "block" && doc.chainId === chain.chainId && doc.seq > chain.seq,
    );
    if (!isHead(chain) || isTaken) {
      this.#chain = null;
      this.#doubts = [];
      throw new AppError("commit_failed", OTHER_CHANGED);
    }
    const isOpen = found.some((doc) => doc.kind === "tail" && doc.chainId === chain.chainId);
    const unanswered = happened.flatMap(({ counted }) => counted);
    return { chain: isOpen ? chain : null, unanswered };
  }

  /** Takes the end of a committed batch as the end of the chain: its commit has settled all doubts. */
  goOnFrom(written: WrittenChain): void {
    this.#chain = written;
    this.#doubts = [];
  }

  /** Keeps a batch whose commit is of unknown outcome. */
  doubt(written: WrittenChain, counted: readonly CountedCalls[]): void {
    this.#doubts.push({ written, counted });
  }
}

const ID_BYTES = 8;
const KEY_BYTES = 32;

/** Holds the key of the audit, and names people there by pseudonyms: callers by an id, looked-up people by an HMAC. */
export class Subjects {
  readonly #mac: Mac;
  readonly #auditKey: Uint8Array;

  constructor(mac: Mac, auditKey: Uint8Array) {
    this.#mac = mac;
    this.#auditKey = auditKey;
  }

  sign(text: string): string {
    return this.#mac.hmacHex(this.#auditKey, text);
  }

  /** A new id and key, not kept yet. */
  make(username: string): SubjectDocument {
    return { username, id: this.randomHex(ID_BYTES), key: this.randomHex(KEY_BYTES) };
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
    return this.sign(`repsync.audit.nobody.v1\n${username}`);
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

  randomHex(bytes: number): string {
    return this.#mac.randomBytes(bytes).toHex();
  }
}
