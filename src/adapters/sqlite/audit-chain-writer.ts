// Appends to the chain of this process, and keeps its signed head. D-6.5.
import { AppError } from "../../domain/errors.ts";
import { censusInput } from "../../domain/reputation/audit-census.ts";
import {
  type AuditEntry,
  type AuditHead,
  type AuditRecord,
  appendEntry,
  type ChainTip,
  emptyChain,
  headInput,
} from "../../domain/reputation/audit-chain.ts";
import type { Mac } from "../../ports/mac.ts";
import { AUDIT_COLUMNS } from "./audit-columns.ts";
import type { SqliteDatabase } from "./database.ts";

const INSERT = `INSERT INTO repsync_audit (${AUDIT_COLUMNS.map(([column]) => column).join(", ")})
  VALUES (${AUDIT_COLUMNS.map(() => "?").join(", ")})`;
const NEW_HEAD = `INSERT INTO repsync_audit_heads
  (chain_id, chain_number, seq, hash, at, signature) VALUES (?, ?, ?, ?, ?, ?)`;
const MOVE_HEAD = `UPDATE repsync_audit_heads SET seq = ?, hash = ?, at = ?, signature = ?
  WHERE chain_id = ? AND seq = ? AND hash = ?`;
/** Beyond the census too: the number of a chain that was removed is not given again. */
const NEXT_NUMBER = `SELECT max(
  coalesce((SELECT max(chain_number) FROM repsync_audit_heads), 0),
  coalesce((SELECT chains FROM repsync_audit_census), 0)) + 1 AS n`;
const SET_CENSUS = `INSERT INTO repsync_audit_census (one, chains, signature) VALUES (1, ?, ?)
  ON CONFLICT DO UPDATE SET chains = excluded.chains, signature = excluded.signature`;
const CHAIN_ID_BYTES = 12;

/** A chain as far as it is written. */
export interface WrittenChain {
  readonly number: number;
  readonly tip: ChainTip;
}

/** Writes one chain, begun with the first records. */
export class AuditChainWriter {
  readonly #database: SqliteDatabase;
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  #chain: WrittenChain | null = null;

  constructor(
    database: SqliteDatabase,
    { mac, auditKey }: { readonly mac: Mac; readonly auditKey: Uint8Array },
  ) {
    this.#database = database;
    this.#mac = mac;
    this.#key = auditKey;
  }

  /** Appends entries and moves the head, within a write. `goOnFrom` the result once that is committed. */
  append(entries: readonly AuditEntry[]): WrittenChain | null {
    const last = entries.at(-1);
    if (last === undefined) return null;
    const hash = (text: string) => this.#mac.hmacHex(this.#key, text);
    const before = this.#chain ?? this.#newChain();
    let tip = before.tip;
    const insert = this.#database.statement(INSERT);
    for (const entry of entries) {
      const record = appendEntry(tip, entry, hash);
      insert.run(valuesOf(record));
      tip = record;
    }
    const { chainId, seq, hash: tipHash } = tip;
    const written = { number: before.number, tip: { chainId, seq, hash: tipHash } };
    this.#moveHead(before.tip, { ...written.tip, chainNumber: written.number, at: last.at });
    return written;
  }

  /** Takes a committed chain as the one to append to. */
  goOnFrom(written: WrittenChain): void {
    this.#chain = written;
  }

  #newChain(): WrittenChain {
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const [row] = this.#database.all(NEXT_NUMBER);
    return { number: Number(row?.["n"]), tip: emptyChain(chainId) };
  }

  #moveHead(before: ChainTip, head: AuditHead): void {
    const signature = this.#mac.hmacHex(this.#key, headInput(head));
    const { chainId, chainNumber, seq, hash, at } = head;
    if (before.seq === 0) {
      this.#database.run(NEW_HEAD, [chainId, chainNumber, seq, hash, at, signature]);
      const census = this.#mac.hmacHex(this.#key, censusInput({ chains: chainNumber }));
      this.#database.run(SET_CENSUS, [chainNumber, census]);
      return;
    }
    const values = [seq, hash, at, signature, chainId, before.seq, before.hash];
    if (this.#database.run(MOVE_HEAD, values) === 1) return;
    // A copy of this process goes on with its chain; this one begins another with the next batch.
    this.#chain = null;
    throw new AppError("commit_failed", "The audit chain of this process was changed by another");
  }
}

function valuesOf(record: AuditRecord) {
  return AUDIT_COLUMNS.map(([, field]) => record[field]);
}
