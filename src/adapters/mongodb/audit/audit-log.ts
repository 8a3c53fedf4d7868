import type { ClientSession, Document } from "mongodb";
import { type AccessItem, accessItem } from "../../../domain/reputation/audit/access-item.ts";
import type {
  AuditHead,
  ChainTip,
  PruningCheckpoint,
  Signed,
} from "../../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../../domain/reputation/audit/audit-check.ts";
import type { ChainCount } from "../../../domain/reputation/audit/chain-count.ts";
import type { AccessPage, AuditLog, RecordPage } from "../../../ports/lookups/audit-log.ts";
import { hadFirstLookup } from "../accounts/own-documents.ts";
import type { Subjects } from "../accounts/subjects.ts";
import { HEADS, kindOfId, logId, nameInLog } from "../driver/lookup-log.ts";
import {
  COMMITTED,
  readCommitted,
  readSnapshot,
  SNAPSHOT,
  type StoreDeps,
  writeTogether,
} from "../driver/operations.ts";
import { readAccessLog } from "./access-log.ts";
import {
  type AuditBlock,
  auditBlocks,
  blockId,
  idsOfChain,
  readBlockId,
  recordsOf,
} from "./audit-blocks.ts";
import {
  type AuditCollections,
  auditCollections,
  CHAIN_COUNT_ID,
  type SignedDocument,
} from "./audit-chain-writer.ts";
import { indexSegments } from "./index-segments.ts";

/** Text of a damaged record need not be UTF-8; it has to be read to be found. */
const AS_STORED = { ...COMMITTED, enableUtf8Validation: false } as const;
/** Comes before every chain. */
const NO_CHAIN = "";
/** Stands for a chain of all documents whose ids are no texts: repsync makes none, and no chain has a slash in its id. */
const NO_BLOCKS = "/";
const IS_NO_TEXT = { $not: { $type: "string" } } as const;

interface AuditLogDeps extends StoreDeps {
  readonly subjects: Subjects;
}

export class MongoAuditLog implements AuditLog {
  readonly #deps: AuditLogDeps;
  readonly #collections: AuditCollections;

  constructor(deps: AuditLogDeps) {
    this.#deps = deps;
    this.#collections = auditCollections(deps.db);
  }

  async chainCount(): Promise<Signed<ChainCount> | null> {
    const found = await this.#read(() =>
      this.#collections.chainCount.findOne({ _id: CHAIN_COUNT_ID }, AS_STORED),
    );
    if (found === null) return null;
    const { _id, signature, ...statement } = found;
    return { statement, signature };
  }

  async wasBegun(): Promise<boolean> {
    return await this.#read(() => hadFirstLookup(this.#deps.db));
  }

  async heads(): Promise<readonly Signed<AuditHead>[]> {
    const found = await this.#read(() =>
      this.#collections.heads.find({ _id: HEADS.ids }, AS_STORED).toArray(),
    );
    return found.map(signedHeadOf);
  }

  async head(chainId: string): Promise<Signed<AuditHead> | null> {
    const found = await this.#read(() =>
      this.#collections.heads.findOne({ _id: logId(HEADS, chainId) }, AS_STORED),
    );
    return found === null ? null : signedHeadOf(found);
  }

  async checkpoints(): Promise<readonly Signed<PruningCheckpoint>[]> {
    const found = await this.#read(() =>
      this.#collections.checkpoints.find({}, AS_STORED).toArray(),
    );
    return found.map(signedOf<PruningCheckpoint>);
  }

  /** Steps from chain to chain in the index, whatever their lengths. */
  async chainIds(): Promise<readonly string[]> {
    const chainIds = (await this.#hasOnlyTextIds()) ? [] : [NO_BLOCKS];
    for (let next = NO_CHAIN; ; ) {
      const isLater = { $gte: next };
      const options = { ...AS_STORED, sort: { _id: 1 }, projection: { _id: 1 } } as const;
      const found = await this.#read(() =>
        auditBlocks(this.#deps.db).findOne({ _id: isLater }, options),
      );
      if (found === null) return chainIds;
      const kind = kindOfId(found._id);
      const chainId = readBlockId(found._id)?.chainId ?? found._id;
      if (kind === null) chainIds.push(chainId);
      next = (kind?.ids ?? idsOfChain(chainId)).$lt;
    }
  }

  /** Ids of other types come before all texts or after them. */
  async #hasOnlyTextIds(): Promise<boolean> {
    for (const direction of [1, -1] as const) {
      const options = { ...COMMITTED, sort: { _id: direction }, projection: { _id: 1 } };
      const end = await this.#read(() => auditBlocks(this.#deps.db).findOne({}, options));
      if (end !== null && typeof (end._id as unknown) !== "string") return false;
    }
    return true;
  }

  async records(
    chainId: string,
    { afterSeq, limit }: RecordPage,
  ): Promise<readonly StoredRecord[]> {
    return await readSnapshot(this.#deps, async (tx) => {
      const start = afterSeq === null ? null : await this.#blockWith(chainId, afterSeq, tx);
      // Something whose id is none of a block goes by that id as a chain.
      const isInChain = { $gte: start?._id ?? chainId, $lt: idsOfChain(chainId).$lt };
      const isLater = chainId === NO_BLOCKS ? IS_NO_TEXT : isInChain;
      const firstSeq = start === null ? 0 : (readBlockId(start._id)?.firstSeq ?? 0);
      let passed = start === null || afterSeq === null ? 0 : afterSeq - firstSeq + 1;
      const found: StoredRecord[] = [];
      const options = { ...AS_STORED, ...SNAPSHOT, session: tx, sort: { _id: 1 } } as const;
      for await (const block of auditBlocks(this.#deps.db).find({ _id: isLater }, options)) {
        const records = recordsOf(block);
        found.push(...records.slice(passed, passed + limit - found.length));
        if (found.length === limit) break;
        passed = 0;
      }
      return found;
    });
  }

  async prune({ statement, signature }: Signed<PruningCheckpoint>): Promise<void> {
    const { chainId, ...pruned } = statement;
    await writeTogether(this.#deps, async (tx) => {
      const { checkpoints } = this.#collections;
      const checkpoint = { ...pruned, signature };
      await checkpoints.replaceOne({ _id: chainId }, checkpoint, { upsert: true, session: tx });
      const blocks = auditBlocks(this.#deps.db);
      const last = await this.#blockWith(chainId, statement.seq, tx);
      if (last === null) return;
      const isPruned = { ...idsOfChain(chainId), $lte: last._id };
      await blocks.deleteMany({ _id: isPruned }, { session: tx });
      const isWhole = { chainId, lastSeq: { $lte: statement.seq } };
      await indexSegments(this.#deps.db).deleteMany(isWhole, { session: tx });
      const firstSeq = readBlockId(last._id)?.firstSeq ?? 0;
      const records = last.records.slice(statement.seq - firstSeq + 1);
      if (records.length === 0) return;
      const rest = { ...last, _id: blockId(chainId, statement.seq + 1), records };
      await blocks.insertOne(rest, { session: tx });
    });
  }

  async accessLog(username: string, { limit, before }: AccessPage): Promise<readonly AccessItem[]> {
    const { subjects } = this.#deps;
    return await readSnapshot(this.#deps, async (tx) => {
      const subject = await subjects.find(username, tx, SNAPSHOT);
      // Lookups of a hidden profile record the HMAC of an absent name. D-8.5.
      const asAbsent = subjects.hmacOfAbsent(username);
      const subjectHmacs = subject === null ? [asAbsent] : [subjects.hmacOf(subject), asAbsent];
      const wanted = { subjectHmacs, limit, before };
      const found = await readAccessLog(this.#deps.db, wanted, tx);
      const accountIds = found.map(({ accountId }) => accountId);
      const names = await subjects.namesOf(accountIds, tx, SNAPSHOT);
      return found.map((record) => accessItem(record, names.get(record.accountId) ?? null));
    });
  }

  /** The block that a place is in or would be in; null for a place before all of them. */
  async #blockWith(chainId: string, seq: number, tx: ClientSession): Promise<AuditBlock | null> {
    const isNotLater = { $gte: idsOfChain(chainId).$gte, $lte: blockId(chainId, seq) };
    const options = tx.inTransaction() ? { session: tx } : { ...SNAPSHOT, session: tx };
    return await auditBlocks(this.#deps.db).findOne(
      { _id: isNotLater },
      { ...options, enableUtf8Validation: false, sort: { _id: -1 } },
    );
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    return await readCommitted(this.#deps, read);
  }
}

function signedHeadOf(head: SignedDocument<AuditHead>): Signed<AuditHead> {
  return signedOf({ ...head, _id: nameInLog(HEADS, head._id) });
}

/** Unsigned fields stay in the statement, which then does not verify; a signature that is no text is none. */
function signedOf<Statement extends ChainTip>(
  document: SignedDocument<Statement>,
): Signed<Statement> {
  const { _id: chainId, signature, ...rest } = document as Document;
  return {
    statement: { chainId, ...rest } as unknown as Statement,
    signature: typeof signature === "string" ? signature : "",
  };
}
