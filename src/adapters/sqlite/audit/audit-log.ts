import { type AccessItem, accessItem } from "../../../domain/reputation/audit/access-item.ts";
import type {
  AuditHead,
  PruningCheckpoint,
  Signed,
} from "../../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../../domain/reputation/audit/audit-check.ts";
import { newestFirst } from "../../../domain/reputation/audit/audit-place.ts";
import type { ChainCount } from "../../../domain/reputation/audit/chain-count.ts";
import type { AccessPage, AuditLog, RecordPage } from "../../../ports/lookups/audit-log.ts";
import { hadFirstLookup } from "../accounts/own-documents.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";
import { AUDIT_COLUMNS } from "./audit-tables.ts";
import { dropSegments, readAccessLog } from "./index-segments.ts";

const FIELDS = AUDIT_COLUMNS.map(([column, field]) => `a.${column} AS "${field}"`).join(", ");
const HEADS = "SELECT chain_id, chain_number, seq, hash, at, signature FROM repsync_audit_heads";
const CHECKPOINTS = "SELECT chain_id, seq, hash, at, signature FROM repsync_audit_checkpoints";
const OF_CHAIN = `SELECT ${FIELDS} FROM repsync_audit a WHERE chain_id = ?`;
const FIRST_RECORDS = `${OF_CHAIN} ORDER BY seq LIMIT ?`;
const NEXT_RECORDS = `${OF_CHAIN} AND seq > ? ORDER BY seq LIMIT ?`;
const SET_CHECKPOINT = `INSERT INTO repsync_audit_checkpoints (chain_id, seq, hash, at, signature)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
  at = excluded.at, signature = excluded.signature`;
const DELETE = "DELETE FROM repsync_audit WHERE chain_id = ? AND seq <= ?";

export class SqliteAuditLog implements AuditLog {
  readonly #database: SqliteDatabase;
  readonly #subjects: Subjects;

  constructor(database: SqliteDatabase, subjects: Subjects) {
    this.#database = database;
    this.#subjects = subjects;
  }

  async chainCount(): Promise<Signed<ChainCount> | null> {
    const [row] = await this.#all("SELECT chains, signature FROM repsync_audit_chain_count");
    return row === undefined ? null : signed(row, { chains: row["chains"] as number });
  }

  async wasBegun(): Promise<boolean> {
    return await this.#database.read(() => hadFirstLookup(this.#database));
  }

  async heads(): Promise<readonly Signed<AuditHead>[]> {
    return (await this.#all(HEADS)).map(headOf);
  }

  async head(chainId: string): Promise<Signed<AuditHead> | null> {
    const [row] = await this.#all(`${HEADS} WHERE chain_id = ?`, [chainId]);
    return row === undefined ? null : headOf(row);
  }

  async checkpoints(): Promise<readonly Signed<PruningCheckpoint>[]> {
    return (await this.#all(CHECKPOINTS)).map((row) => signed<PruningCheckpoint>(row, tipOf(row)));
  }

  async chainIds(): Promise<readonly string[]> {
    const rows = await this.#all("SELECT DISTINCT chain_id FROM repsync_audit");
    return rows.map((row) => String(row["chain_id"]));
  }

  async records(
    chainId: string,
    { afterSeq, limit }: RecordPage,
  ): Promise<readonly StoredRecord[]> {
    if (afterSeq === null) return await this.#all(FIRST_RECORDS, [chainId, limit]);
    return await this.#all(NEXT_RECORDS, [chainId, afterSeq, limit]);
  }

  async prune({ statement, signature }: Signed<PruningCheckpoint>): Promise<void> {
    const { chainId, seq, hash, at } = statement;
    await this.#database.keep(() => {
      this.#database.run(SET_CHECKPOINT, [chainId, seq, hash, at, signature]);
      this.#database.run(DELETE, [chainId, seq]);
      dropSegments(this.#database, chainId, seq);
    });
  }

  async accessLog(username: string, page: AccessPage): Promise<readonly AccessItem[]> {
    return this.#database.read(() => {
      // Lookups of a hidden profile record the HMAC of an absent name. D-8.5.
      const names = [this.#subjects.hmac(username), this.#subjects.hmacOfAbsent(username)];
      return names
        .filter((name) => name !== null)
        .flatMap((subjectHmac) => readAccessLog(this.#database, subjectHmac, page))
        .sort(newestFirst)
        .slice(0, page.limit)
        .map((record) => accessItem(record, record.accountName));
    });
  }

  async #all(sql: string, values: readonly (string | number)[] = []): Promise<SqliteRow[]> {
    return this.#database.read(() => this.#database.all(sql, values));
  }
}

function headOf(row: SqliteRow): Signed<AuditHead> {
  return signed<AuditHead>(row, { ...tipOf(row), chainNumber: row["chain_number"] as number });
}

function tipOf(row: SqliteRow): PruningCheckpoint {
  return {
    chainId: row["chain_id"] as string,
    seq: row["seq"] as number,
    hash: row["hash"] as string,
    at: row["at"] as string,
  };
}

function signed<Statement>(row: SqliteRow, statement: Statement): Signed<Statement> {
  return { statement, signature: String(row["signature"]) };
}
