import type {
  AuditHead,
  PruningCheckpoint,
  Signed,
} from "../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../domain/reputation/audit/audit-check.ts";
import type { ChainCount } from "../../domain/reputation/audit/kept-heads.ts";
import { INDEX_SHAPE } from "../../domain/reputation/audit/name-filter.ts";
import { compareKeys, isKey, type Key } from "../../domain/shared/document-key.ts";
import {
  type Collection,
  Damaged,
  type DocumentStore,
  type Reader,
  type StoredStretch,
} from "../../ports/documents.ts";
import { SECRETS } from "../account-collections.ts";
import {
  AUDIT,
  type BlockDocument,
  FIRST_LOOKUP,
  LOOKUP_LOG,
  type LookupLogDocument,
  SEGMENTS,
} from "../lookup-collections.ts";
import { Repository } from "../repository.ts";
import { blockKey, cutBlock, recordsOf } from "./audit-blocks.ts";
import { SegmentGroups } from "./segment-groups.ts";

type BlockPlace = Key | Damaged;

interface RecordQuery {
  /** Null: from the very first. */
  readonly after: BlockPlace | null;
  /** 1 or more; a page may have more, as blocks come whole. */
  readonly limit: number;
}

export interface RecordPage {
  readonly records: readonly StoredRecord[];
  /** The last block of the page; null when none comes after it. */
  readonly last: BlockPlace | null;
}

interface AuditOverview {
  /** Whether a record was ever written (`FIRST_LOOKUP`): so a log that was removed whole shows. */
  readonly wasBegun: boolean;
  /** Null before the first chain. */
  readonly chainCount: Signed<ChainCount> | null;
  /** In any order. */
  readonly heads: readonly Signed<AuditHead>[];
}

interface AuditClaims {
  /** Null where nothing was pruned. */
  readonly checkpoint: Signed<PruningCheckpoint> | null;
  readonly head: Signed<AuditHead> | null;
}

/** The contents of a log, whatever its heads say. */
export interface AuditContents {
  /** Of all chains that have a record or a checkpoint. */
  readonly chainIds: readonly string[];
  /** The key of the first damaged document that is in no chain, for people; null for none. */
  readonly stray: string | null;
}

const BLOCKS_AT_ONCE = 32;

/**
 * Reads the audit log for its verification, and cuts it; batches of lookups and administrators write it. What another program has
 * spoilt comes as a statement that is not signed, or as a record that is not as written. D-6.5.
 */
export class AuditLog extends Repository {
  readonly #groups: SegmentGroups;

  constructor(documents: DocumentStore, shape = INDEX_SHAPE) {
    super(documents);
    this.#groups = new SegmentGroups(documents, shape);
  }

  /** Reads what the log says about itself, as of one moment. */
  async overview(): Promise<AuditOverview> {
    const [secret, count, heads] = await this.ask(
      "audit.read",
      { from: SECRETS, asStored: { within: [[FIRST_LOOKUP.name]] } },
      { from: AUDIT, asStored: { within: [["chain_count"]] } },
      { from: LOOKUP_LOG, asStored: { within: [["head"]] } },
    );
    return {
      wasBegun: secret.length > 0,
      chainCount: signedIn<ChainCount>(count),
      heads: heads.map((head) => signedOf<AuditHead>(head)),
    };
  }

  /** Reads what the log says about one chain, as of one moment. */
  async claims(chainId: string): Promise<AuditClaims> {
    const [checkpoint, head] = await this.ask(
      "audit.read",
      { from: AUDIT, asStored: { within: [["checkpoint", chainId]] } },
      { from: LOOKUP_LOG, asStored: { within: [["head", chainId]] } },
    );
    return {
      checkpoint: signedIn<PruningCheckpoint>(checkpoint),
      head: signedIn<AuditHead>(head),
    };
  }

  /** The heads, in any order, to be kept elsewhere; a spoilt one throws. */
  async heads(): Promise<readonly Signed<AuditHead>[]> {
    const stretch = { within: [["head"]] };
    const [found] = await this.ask("audit.read", { from: LOOKUP_LOG, stretch });
    return found.map((head) => signedOf<AuditHead>(head));
  }

  /** Steps from one chain to the next. */
  async contents(): Promise<AuditContents> {
    const chainIds = new Set<string>();
    const strays: string[] = [];
    for (const one of await this.#stored(AUDIT, {})) {
      const chainId = chainOf("checkpoint", keyIn(AUDIT, one));
      if (chainId !== null) chainIds.add(chainId);
      else if (one instanceof Damaged) strays.push(one.text);
    }
    let chain: string | null = null;
    for (let place: { readonly after?: BlockPlace } = {}; ; ) {
      const [next] = await this.#stored(LOOKUP_LOG, { ...place, limit: 1 });
      const key = next === undefined ? null : keyIn(LOOKUP_LOG, next);
      const chainId = chainOf("block", key);
      const isPast = key !== null && chainId === null && compareKeys(key, ["block"]) > 0;
      if (next === undefined || isPast)
        return { chainIds: [...chainIds], stray: strays[0] ?? null };
      if (chainId !== null) chainIds.add(chainId);
      else if (next instanceof Damaged) strays.push(next.text);
      const isNew = chainId !== null && chainId !== chain;
      place = { after: isNew ? blockKey(chainId, Number.MAX_SAFE_INTEGER) : placeOf(next) };
      chain = chainId;
    }
  }

  /** Records of one chain in the order of their blocks, with every stored field, whatever their `seq` holds. */
  async records(chainId: string, { after, limit }: RecordQuery): Promise<RecordPage> {
    return await this.reading("audit.read", async (at) => {
      const records: StoredRecord[] = [];
      for (let last = after; ; ) {
        const place = last === null ? {} : { after: last };
        const asStored = { within: [["block", chainId]], ...place, limit: BLOCKS_AT_ONCE };
        const [blocks] = await at.read({ from: LOOKUP_LOG, asStored });
        for (const block of blocks) records.push(...recordsOf(block));
        const end = blocks.at(-1);
        if (end === undefined || blocks.length < BLOCKS_AT_ONCE) return { records, last: null };
        last = placeOf(end);
        if (records.length >= limit) return { records, last };
      }
    });
  }

  /** Removes a chain's records through the checkpoint's, some ten thousand at most, and replaces its checkpoint, in one commit. */
  async prune({ statement, signature }: Signed<PruningCheckpoint>): Promise<void> {
    const { chainId, seq } = statement;
    const passed = { within: [["block", chainId]], upTo: blockKey(chainId, seq) };
    const ofChain = { index: "chain", within: [[chainId]] };
    const numbers = await this.writing("audit.prune", async (tx) => {
      const [blocks, segments] = await tx.read(
        { from: LOOKUP_LOG, keysOf: passed },
        { from: SEGMENTS, keysOf: { ...ofChain, upTo: [chainId, seq, Number.MAX_SAFE_INTEGER] } },
      );
      const last = await blockWith(tx, chainId, seq);
      tx.put(AUDIT, { kind: "checkpoint", ...statement, signature });
      for (const key of blocks) tx.remove(LOOKUP_LOG, key);
      for (const key of segments) tx.remove(SEGMENTS, key);
      const rest = last === null ? null : cutBlock(last, seq - last.seq + 1);
      if (rest !== null) tx.put(LOOKUP_LOG, rest);
      return segments.map(([number]) => Number(number));
    });
    await this.#groups.dropEmpty(numbers);
  }

  async #stored<Doc extends object>(
    from: Collection<Doc>,
    asStored: StoredStretch,
  ): Promise<readonly (Doc | Damaged)[]> {
    const [found] = await this.ask("audit.read", { from, asStored });
    return found as readonly (Doc | Damaged)[];
  }
}

/** The block that a place is in or would be in; null for a place before all of them. */
async function blockWith(at: Reader, chainId: string, seq: number): Promise<BlockDocument | null> {
  const within = [["block", chainId]];
  const after = blockKey(chainId, seq + 1);
  const stretch = { within, after, isReverse: true, limit: 1 };
  const [[found]] = await at.read({ from: LOOKUP_LOG, stretch });
  return (found as BlockDocument | undefined) ?? null;
}

function signedIn<Statement>([found]: readonly object[]): Signed<Statement> | null {
  return found === undefined ? null : signedOf<Statement>(found);
}

/** A spoilt document tells only the chain in its key. */
function signedOf<Statement>(document: object): Signed<Statement> {
  if (document instanceof Damaged) {
    const chainId = String(document.key?.[1] ?? document.text);
    return { statement: { chainId } as Statement, signature: "" };
  }
  const { kind: _kind, signature, ...statement } = document as Record<string, unknown>;
  return { statement: statement as Statement, signature: String(signature) };
}

function keyIn<Doc extends object>(from: Collection<Doc>, document: Doc | Damaged): Key | null {
  return document instanceof Damaged ? document.key : from.keyOf(document);
}

function placeOf(document: LookupLogDocument | Damaged): BlockPlace {
  return document instanceof Damaged ? document : LOOKUP_LOG.keyOf(document);
}

/** The id of the chain that the key of a block or checkpoint names; null for another key. */
function chainOf(kind: "block" | "checkpoint", key: Key | null): string | null {
  const [first, chainId] = key ?? [];
  if (first !== kind || typeof chainId !== "string") return null;
  return isKey(["checkpoint", chainId, Number.MAX_SAFE_INTEGER]) ? chainId : null;
}
