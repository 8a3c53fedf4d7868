// Appends to audit chains, and keeps their signed heads. D-6.5.
import {
  type AdminAct,
  actedOnRowText,
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
import { chainCountInput } from "../../domain/reputation/audit/kept-heads.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import type { Transaction } from "../../ports/documents.ts";
import { SECRETS, SUBJECTS } from "../accounts/account-collections.ts";
import { makeBlock } from "./audit-blocks.ts";
import { AUDIT, type ChainCountDocument, FIRST_LOOKUP, LOOKUP_LOG } from "./lookup-collections.ts";
import type { Subjects } from "./subjects.ts";

/** What an append has written, once it is committed. */
export interface Appended {
  readonly written: WrittenChain;
  readonly records: readonly AuditRecord[];
}

const CHAIN_ID_BYTES = 8;

export class AuditChains {
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  readonly #subjects: Subjects;

  constructor(mac: Mac, auditKey: Uint8Array, subjects: Subjects) {
    this.#mac = mac;
    this.#key = auditKey;
    this.#subjects = subjects;
  }

  /** Begins a chain, within a body. The number of one that was removed is not given again. */
  async begin(tx: Transaction): Promise<WrittenChain> {
    const [[counted]] = await tx.read({ from: AUDIT, keys: [["chain_count"]] });
    const chains = ((counted as ChainCountDocument | undefined)?.chains ?? 0) + 1;
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const signature = this.#sign(chainCountInput({ chains }));
    tx.put(AUDIT, { kind: "chain_count", chains, signature });
    tx.put(LOOKUP_LOG, { kind: "tail", chainId, indexedSeq: 0 });
    tx.put(SECRETS, FIRST_LOOKUP);
    return { number: chains, tip: emptyChain(chainId) };
  }

  /** Appends entries of one moment, at least one, and moves the head, within a body. */
  append(tx: Transaction, chain: WrittenChain, entries: readonly AuditEntry[]): Appended {
    const { records, head, written } = planAppend(chain, entries, (text) => this.#sign(text));
    const { statement, signature } = head;
    tx.put(LOOKUP_LOG, { kind: "head", ...statement, signature });
    tx.put(LOOKUP_LOG, makeBlock(records));
    return { written, records };
  }

  /**
   * Adds the record of what an administrator does, within the body that does it: in a chain of its own, as they are few, and
   * lookups of this process go on with theirs. D-8.8.
   */
  async noteAct(tx: Transaction, act: AdminAct): Promise<void> {
    const { username } = act;
    const keys = keysOf(username);
    const [[subject]] = await tx.read({ from: SUBJECTS, keys });
    await this.#note(tx, act, this.#subjects.hmacOfActedOn(username, subject));
  }

  /** The same of what is done to a row. D-14.3. */
  async noteRowAct(tx: Transaction, act: RowAct): Promise<void> {
    await this.#note(tx, act, this.#sign(actedOnRowText(act)));
  }

  /** The same of what is done with a file: it is about the table. D-14.3. */
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
    this.append(tx, await this.begin(tx), [entry]);
  }

  #sign(input: string): string {
    return this.#mac.hmacHex(this.#key, input);
  }
}
