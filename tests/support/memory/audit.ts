// The audit log in memory, and the chain that one process appends to it.
import {
  type AccessItem,
  accessItem,
  accessPlace,
} from "../../../src/domain/reputation/audit/access-item.ts";
import {
  type AuditEntry,
  type AuditHead,
  type AuditRecord,
  emptyChain,
  type PruningCheckpoint,
  planAppend,
  type Signed,
  type WrittenChain,
} from "../../../src/domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../../src/domain/reputation/audit/audit-check.ts";
import { newestFirst } from "../../../src/domain/reputation/audit/audit-place.ts";
import {
  type ChainCount,
  chainCountInput,
} from "../../../src/domain/reputation/audit/chain-count.ts";
import type { Mac } from "../../../src/ports/crypto/crypto.ts";
import type { AccessPosition, AuditLog, RecordPage } from "../../../src/ports/lookups/audit-log.ts";
import type { Subjects } from "./people.ts";

const CHAIN_ID_BYTES = 8;

/** Records in the order of their commits, and what is signed about them. */
export class MemoryAuditLog implements AuditLog {
  readonly #subjects: Subjects;
  #chainCount: Signed<ChainCount> | null = null;
  #wasBegun = false;
  #records: AuditRecord[] = [];
  readonly #heads = new Map<string, Signed<AuditHead>>();
  readonly #checkpoints = new Map<string, Signed<PruningCheckpoint>>();

  constructor(subjects: Subjects) {
    this.#subjects = subjects;
  }

  async chainCount(): Promise<Signed<ChainCount> | null> {
    return this.#chainCount;
  }

  async wasBegun(): Promise<boolean> {
    return this.#wasBegun;
  }

  async heads(): Promise<readonly Signed<AuditHead>[]> {
    return [...this.#heads.values()];
  }

  async head(chainId: string): Promise<Signed<AuditHead> | null> {
    return this.#heads.get(chainId) ?? null;
  }

  async checkpoints(): Promise<readonly Signed<PruningCheckpoint>[]> {
    return [...this.#checkpoints.values()];
  }

  async chainIds(): Promise<readonly string[]> {
    return [...new Set(this.#records.map(({ chainId }) => chainId))];
  }

  /** All records of a chain, in order. */
  recordsOf(chainId: string): readonly AuditRecord[] {
    return this.#records.filter((record) => record.chainId === chainId);
  }

  async records(
    chainId: string,
    { afterSeq, limit }: RecordPage,
  ): Promise<readonly StoredRecord[]> {
    return this.#records
      .filter((record) => record.chainId === chainId && record.seq > (afterSeq ?? 0))
      .slice(0, limit);
  }

  async prune(checkpoint: Signed<PruningCheckpoint>): Promise<void> {
    const { chainId, seq } = checkpoint.statement;
    this.#checkpoints.set(chainId, checkpoint);
    this.#records = this.#records.filter(
      (record) => record.chainId !== chainId || record.seq > seq,
    );
  }

  async accessLog(
    username: string,
    { limit, before }: { readonly limit: number; readonly before: AccessPosition | null },
  ): Promise<readonly AccessItem[]> {
    const hmac = this.#subjects.knownHmac(username);
    const place = before === null ? null : accessPlace(before);
    return this.#records
      .filter(({ subjectHmac }) => subjectHmac === hmac)
      .filter((record) => place === null || newestFirst(record, place) > 0)
      .sort(newestFirst)
      .slice(0, limit)
      .map((record) => accessItem(record, this.#subjects.usernameOf(record.accountId)));
  }

  /** Numbers chains without gaps: beyond the count of chains too, so that no number is given again. */
  nextChainNumber(): number {
    const numbers = [...this.#heads.values()].map(({ statement }) => statement.chainNumber);
    return Math.max(0, ...numbers, this.#chainCount?.statement.chains ?? 0) + 1;
  }

  /** Writes records with the chain's head, and the count of chains when a chain begins, in one commit. */
  write(
    records: readonly AuditRecord[],
    head: Signed<AuditHead>,
    chainCount: Signed<ChainCount> | null,
  ): void {
    this.#wasBegun = true;
    this.#records.push(...records);
    this.#heads.set(head.statement.chainId, head);
    if (chainCount !== null) this.#chainCount = chainCount;
  }
}

/** Appends to the chain of one process, begun with its first records. */
export class MemoryChainWriter {
  readonly #log: MemoryAuditLog;
  readonly #mac: Mac;
  readonly #auditKey: Uint8Array;
  #chain: WrittenChain | null = null;

  constructor(log: MemoryAuditLog, mac: Mac, auditKey: Uint8Array) {
    this.#log = log;
    this.#mac = mac;
    this.#auditKey = auditKey;
  }

  /** Appends the entries of one batch. */
  append(entries: readonly AuditEntry[]): void {
    if (entries.length === 0) return;
    const chain = this.#chain ?? this.#newChain();
    const { records, head, written } = planAppend(chain, entries, (text) => this.#hmacHex(text));
    const count = { chains: chain.number };
    const isNew = this.#chain === null;
    this.#log.write(records, head, isNew ? this.#signed(count, chainCountInput(count)) : null);
    this.#chain = written;
  }

  #newChain(): WrittenChain {
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    return { number: this.#log.nextChainNumber(), tip: emptyChain(chainId) };
  }

  #signed<Statement>(statement: Statement, input: string): Signed<Statement> {
    return { statement, signature: this.#hmacHex(input) };
  }

  #hmacHex(text: string): string {
    return this.#mac.hmacHex(this.#auditKey, text);
  }
}
