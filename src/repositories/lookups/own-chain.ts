// The state of this process's audit chain. A commit of unknown outcome leaves it in doubt until a later batch has read the chain's
// head in its own body. If the head is where that commit would have put it, the commit happened, and its calls are taken off the
// counts in the same body. Calls are given back only where the head moves too, so a second doubt is settled in the same way.
import type { WrittenChain } from "../../domain/reputation/audit/audit-chain.ts";
import type { Key } from "../../domain/shared/document-key.ts";
import { AppError } from "../../domain/shared/errors.ts";
import type { LookupLogDocument } from "../lookup-collections.ts";
import { blockKey } from "./audit-blocks.ts";

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

export class OwnChain {
  #chain: WrittenChain | null = null;
  #doubts: Doubt[] = [];

  /** Keys of the chain and of those in doubt: head, tail, and the place of the next block, which has to be empty. */
  get keys(): readonly Key[] {
    const chains = [this.#chain, ...this.#doubts.map(({ written }) => written)];
    return chains
      .filter((one) => one !== null)
      .flatMap(({ chainId, seq }) => [
        ["head", chainId],
        ["tail", chainId],
        blockKey(chainId, seq + 1),
      ]);
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
    const heads = new Map(
      found.flatMap((doc) => (doc.kind === "head" ? [[doc.chainId, doc]] : [])),
    );
    const isHead = ({ chainId, seq, hash }: WrittenChain) => {
      const head = heads.get(chainId);
      return head?.seq === seq && head.hash === hash;
    };
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
