// Appends to the chain of this process, and keeps its signed head. D-6.5.

import {
  type AuditEntry,
  type AuditHead,
  type AuditRecord,
  type ChainTip,
  emptyChain,
  planAppend,
  type Signed,
  type WrittenChain,
} from "../../../domain/reputation/audit/audit-chain.ts";
import { chainCountInput } from "../../../domain/reputation/audit/chain-count.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import { noteFirstLookup } from "../accounts/own-documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { AUDIT_COLUMNS } from "./audit-tables.ts";
import { indexRecords, SLICE_RECORDS } from "./index-segments.ts";

const COLUMNS = AUDIT_COLUMNS.map(([column]) => column).join(", ");
const MARKS = `(${AUDIT_COLUMNS.map(() => "?").join(", ")})`;
/** Records that one statement inserts where there are that many; a third faster than one by one. */
const ROWS_AT_ONCE = 16;
const INSERTS = { 1: insertOf(1), [ROWS_AT_ONCE]: insertOf(ROWS_AT_ONCE) };
const NEW_HEAD = `INSERT INTO repsync_audit_heads
  (chain_id, chain_number, seq, hash, at, signature) VALUES (?, ?, ?, ?, ?, ?)`;
const MOVE_HEAD = `UPDATE repsync_audit_heads SET seq = ?, hash = ?, at = ?, signature = ?
  WHERE chain_id = ? AND seq = ? AND hash = ?`;
/** Beyond the chain count too: the number of a chain that was removed is not given again. */
const NEXT_NUMBER = `SELECT max(
  coalesce((SELECT max(chain_number) FROM repsync_audit_heads), 0),
  coalesce((SELECT chains FROM repsync_audit_chain_count), 0)) + 1 AS n`;
const SET_CHAIN_COUNT = `INSERT INTO repsync_audit_chain_count (one, chains, signature) VALUES (1, ?, ?)
  ON CONFLICT DO UPDATE SET chains = excluded.chains, signature = excluded.signature`;
const CHAIN_IDS = "SELECT chain_id FROM repsync_audit_heads";
const CHAIN_ID_BYTES = 8;

/** Writes one chain, begun with the first records. */
export class AuditChainWriter {
  readonly #database: SqliteDatabase;
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  #chain: WrittenChain | null = null;

  constructor(database: SqliteDatabase, mac: Mac, auditKey: Uint8Array) {
    this.#database = database;
    this.#mac = mac;
    this.#key = auditKey;
  }

  /**
   * Appends entries and moves the head, within a write; `goOnFrom` the result once that is committed. Throws
   * `commit_failed` when another process has changed the chain.
   */
  append(entries: readonly AuditEntry[]): WrittenChain | null {
    if (entries.length === 0) return null;
    const before = this.#chain ?? this.#newChain();
    const sign = (text: string) => this.#mac.hmacHex(this.#key, text);
    const { records, head, written } = planAppend(before, entries, sign);
    this.#insert(records);
    this.#moveHead(before.tip, head);
    const { chainId, seq } = written.tip;
    const sliceOf = (place: number) => Math.floor(place / SLICE_RECORDS);
    if (sliceOf(seq) > sliceOf(before.tip.seq)) {
      indexRecords(this.#database, chainId, false);
    }
    return written;
  }

  #insert(records: readonly AuditRecord[]): void {
    for (let at = 0; at < records.length; ) {
      const rows = records.length - at >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
      const values: SqliteValue[] = [];
      for (const record of records.slice(at, at + rows)) {
        for (const [, field] of AUDIT_COLUMNS) values.push(record[field]);
      }
      this.#database.run(INSERTS[rows], values);
      at += rows;
    }
  }

  /** Leaves the chain as it is and begins another with the next records: a copy of this process may go on with it. */
  beginAnother(): void {
    this.#chain = null;
  }

  /** Takes a committed chain as the one to append to. */
  goOnFrom(written: WrittenChain): void {
    this.#chain = written;
  }

  /** Indexes the earlier chains whole: most likely their processes have ended. */
  #newChain(): WrittenChain {
    for (const { chain_id: id } of this.#database.all(CHAIN_IDS)) {
      indexRecords(this.#database, String(id), true);
    }
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const [row] = this.#database.all(NEXT_NUMBER);
    return { number: Number(row?.["n"]), tip: emptyChain(chainId) };
  }

  #moveHead(before: ChainTip, { statement, signature }: Signed<AuditHead>): void {
    const { chainId, chainNumber, seq, hash, at } = statement;
    if (before.seq === 0) {
      this.#database.run(NEW_HEAD, [chainId, chainNumber, seq, hash, at, signature]);
      const chainCount = this.#mac.hmacHex(this.#key, chainCountInput({ chains: chainNumber }));
      this.#database.run(SET_CHAIN_COUNT, [chainNumber, chainCount]);
      noteFirstLookup(this.#database);
      return;
    }
    const values = [seq, hash, at, signature, chainId, before.seq, before.hash];
    if (this.#database.run(MOVE_HEAD, values) === 1) return;
    throw new AppError("commit_failed", "The audit chain of this process was changed by another");
  }
}

function insertOf(rows: number): string {
  return `INSERT INTO repsync_audit (${COLUMNS}) VALUES ${Array(rows).fill(MARKS).join(", ")}`;
}
