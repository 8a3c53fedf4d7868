// Reads what counts the calls of accounts, mostly with the one read that every batch makes.
import type { Key } from "../../domain/shared/document-key.ts";
import type { Transaction } from "../../ports/documents.ts";
import { LOOKUP_LOG, type LookupLogDocument, type UsageDocument } from "../lookup-collections.ts";
import type { OwnedCaller } from "./batch-facts.ts";
import type { CountedCalls } from "./own-chain.ts";
import { AccountUsage, usageKey } from "./usage.ts";

/** Accounts whose pages are remembered; with one more all are forgotten. */
const MAX_KNOWN_PAGES = 10_000;

type PagesOf = (usage: AccountUsage) => readonly Key[];

interface WantedUsages {
  /** What the read of `keysOf` gave. */
  readonly log: readonly LookupLogDocument[];
  readonly callers: readonly { readonly caller: OwnedCaller }[];
  readonly unanswered: readonly CountedCalls[];
}

export class UsageReader {
  /** Full pages of calls that the last batch needed, by account. */
  readonly #pages = new Map<string, readonly Key[]>();

  /** Keys of the documents that a batch of calls by these accounts likely needs. */
  keysOf(accountIds: Iterable<string>): readonly Key[] {
    const ids = [...accountIds];
    return [...ids.map(usageKey), ...ids.flatMap((id) => this.#pages.get(id) ?? [])];
  }

  /** The usages that a batch changes, with the pages that it needs; reads once more where these are others than last time. */
  async read(tx: Transaction, wanted: WantedUsages): Promise<Map<string, AccountUsage>> {
    const { log, callers, unanswered } = wanted;
    const stored = new Map(
      log.flatMap((doc) => (doc.kind === "usage" ? [[doc.accountId, doc] as const] : [])),
    );
    const usages = new Map<string, AccountUsage>();
    const needed: Key[] = [];
    const open = (accountId: string, document: UsageDocument | undefined, pages: PagesOf) => {
      const usage = AccountUsage.of(document, tx.nowMs);
      usages.set(accountId, usage);
      const keys = pages(usage);
      needed.push(...keys);
      this.#notePages(accountId, keys);
    };
    for (const { caller } of callers) {
      const { accountId, limits } = caller;
      open(accountId, stored.get(accountId), (usage) => usage.missing(limits.callsPerMinute));
    }
    for (const { accountId } of unanswered) {
      const document = stored.get(accountId);
      // An account that was erased meanwhile has no count any more.
      if (document !== undefined) open(accountId, document, (usage) => usage.everyPage());
    }
    const known = new Set(
      log.flatMap((doc) => (doc.kind === "calls" ? [`${doc.accountId} ${doc.page}`] : [])),
    );
    const lacked = needed.filter(([, id, page]) => !known.has(`${id} ${page}`));
    const [others] = lacked.length === 0 ? [[]] : await tx.read({ from: LOOKUP_LOG, keys: lacked });
    for (const usage of usages.values()) usage.settle([...log, ...others]);
    return usages;
  }

  #notePages(accountId: string, keys: readonly Key[]): void {
    if (keys.length === 0) this.#pages.delete(accountId);
    else {
      if (this.#pages.size >= MAX_KNOWN_PAGES) this.#pages.clear();
      this.#pages.set(accountId, keys);
    }
  }
}
