// Rejected records, and the commits that change them.
import type { JsonObject } from "../../../src/domain/shared/json.ts";
import type { NewRejection } from "../../../src/domain/sync/run/rejections.ts";
import type { SyncDirection } from "../../../src/domain/sync/run/run.ts";
import type { DocumentStore } from "../../../src/ports/documents.ts";
import {
  keepRejections,
  type RejectedQuery,
  RejectedRecords,
} from "../../../src/repositories/rejected-records.ts";
import { REJECTED_TEXTS } from "../../../src/repositories/run-collections.ts";
import { repositoryTests } from "./repository-tests.ts";

export class RejectedUnderTest extends RejectedRecords {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    super(documents);
    this.#documents = documents;
  }

  /** Notes rejections in a commit. */
  async note(rejections: readonly NewRejection[]): Promise<void> {
    await this.#documents.transact({ name: "test.note" }, (tx) =>
      keepRejections(tx, undefined, rejections),
    );
  }

  /** How many parts of texts are kept. */
  async countTexts(): Promise<number> {
    const [count] = await this.#documents.read({ name: "test.texts" }, (at) =>
      at.read({ from: REJECTED_TEXTS, count: {} }),
    );
    return count;
  }

  /** Drops the entries of keys that were accepted, in a commit. */
  async clear(table: string, direction: SyncDirection, keys: readonly JsonObject[]): Promise<void> {
    await this.#documents.transact({ name: "test.clear" }, (tx) =>
      keepRejections(tx, { table, direction, keys }, []),
    );
  }
}

export function rejection(changes: Partial<NewRejection>): NewRejection {
  return {
    ...{ table: "items", direction: "push", key: { k: "a" }, record: null, message: "Refused" },
    ...{ fingerprint: "f", lastAtMs: 1_700_000_000_000 },
    ...changes,
  };
}

/** The entries of a part of the list: all of them, unless the query says otherwise. */
export async function listed(rejected: RejectedUnderTest, query: Partial<RejectedQuery> = {}) {
  const all = { table: null, direction: null, limit: 2_000, behindId: null };
  return await rejected.list({ ...all, ...query });
}

/** Defines tests on every store. */
export function rejectedTests(
  subject: string,
  define: Parameters<typeof repositoryTests<RejectedUnderTest>>[2],
): void {
  repositoryTests(subject, (documents) => new RejectedUnderTest(documents), define);
}
