// Where the audit chain of this process stands. After a commit of unknown outcome that is in doubt, until a later batch has
// read the chain's head in its own transaction.
import type { ChainTip, WrittenChain } from "../../../domain/reputation/audit/audit-chain.ts";
import type { CountedCalls } from "../accounts/account-usage.ts";

/** A batch whose commit may have happened or not; its calls were answered 503. */
interface Doubt {
  /** The chain, if it happened. */
  readonly written: WrittenChain;
  readonly counted: readonly CountedCalls[];
}

interface ChainState {
  /** Null where it has to begin a chain. */
  readonly chain: WrittenChain | null;
  /** Calls that are counted but were answered 503: they are given back. D-5.8. */
  readonly unanswered: readonly CountedCalls[];
}

/** Head of a chain as stored, as far as it says how long the chain is. */
export type StoredHead = Pick<ChainTip, "seq" | "hash">;

export class OwnChain {
  #chain: WrittenChain | null = null;
  #doubts: Doubt[] = [];

  /** Ids of chains whose heads the next transaction has to read; none without a doubt. */
  get idsInDoubt(): readonly string[] {
    if (this.#doubts.length === 0) return [];
    const known = this.#chain === null ? [] : [this.#chain];
    const chains = [...known, ...this.#doubts.map(({ written }) => written)];
    return [...new Set(chains.map(({ tip }) => tip.chainId))];
  }

  /** Accounts that calls in doubt were counted for. */
  get accountsInDoubt(): readonly string[] {
    return this.#doubts.flatMap(({ counted }) => counted.map(({ accountId }) => accountId));
  }

  /**
   * What a transaction goes on from that found these heads, by chain. A batch in doubt happened if its tip is a head; each
   * batch gave back the ones before it, so only the last one of a chain is left to be given back.
   */
  stateAt(heads: ReadonlyMap<string, StoredHead>): ChainState {
    if (this.#doubts.length === 0) return { chain: this.#chain, unanswered: [] };
    const isHead = ({ tip }: WrittenChain) => {
      const head = heads.get(tip.chainId);
      return head?.seq === tip.seq && head.hash === tip.hash;
    };
    const happened = this.#doubts.filter(({ written }) => isHead(written));
    const before = this.#chain !== null && isHead(this.#chain) ? this.#chain : null;
    return {
      chain: happened.at(-1)?.written ?? before,
      unanswered: happened.flatMap(({ counted }) => counted),
    };
  }

  /** Goes on from a committed batch that had settled all doubts. */
  goOnFrom(written: WrittenChain): void {
    this.#chain = written;
    this.#doubts = [];
  }

  /** Keeps a batch whose commit is of unknown outcome. */
  doubt(written: WrittenChain, counted: readonly CountedCalls[]): void {
    this.#doubts.push({ written, counted });
  }

  /** Begins another chain with the next batch: a copy of this process goes on with this one. */
  abandon(): void {
    this.#chain = null;
    this.#doubts = [];
  }
}
