// What repositories decide, in memory and in a SQLite file, with a cross-check on the servers.
import { describe, test } from "bun:test";
import type { DocumentStore } from "../../../src/ports/documents.ts";
import { ACCOUNT_COLLECTIONS } from "../../../src/repositories/account-collections.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { LOOKUP_COLLECTIONS } from "../../../src/repositories/lookup-collections.ts";
import type { OpenedDocuments } from "../../contract/documents/documents-harness.ts";
import { type CaseDefiner, definer } from "../../contract/harness.ts";
import {
  openMemory,
  openMongo,
  openPostgres,
  openSqliteFile,
} from "../../support/stores/document-stores.ts";
import { mongoAvailable } from "../../support/stores/shared-mongo.ts";
import { postgresAvailable } from "../../support/stores/shared-postgres.ts";
import { IS_QUICK } from "../../support/test-run.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";

const STORES = [
  { name: "memory", isAvailable: true, open: openMemory, isCrossCheck: false },
  { name: "SQLite", isAvailable: true, open: openSqliteFile, isCrossCheck: false },
  { name: "MongoDB", isAvailable: mongoAvailable, open: openMongo, isCrossCheck: true },
  { name: "PostgreSQL", isAvailable: postgresAvailable, open: openPostgres, isCrossCheck: true },
];

/** Far above what any case needs, so that only a hanging one meets it. */
const TEST_TIMEOUT_MS = 120_000;

export interface StoreOfCase {
  /** Those of the first instance. */
  readonly documents: DocumentStore;
  readonly opened: OpenedDocuments;
  /** The time of all instances. */
  readonly clock: FakeClock;
}

/** `first` and `second` are the repository in two instances on a new, empty store. */
type RepositoryTest<Repository> = (
  first: Repository,
  second: Repository,
  store: StoreOfCase,
) => Promise<void>;

/** Defines tests on every store; on servers those of `everywhere`. */
export function repositoryTests<Repository>(
  subject: string,
  make: (documents: DocumentStore) => Repository,
  define: (it: CaseDefiner<RepositoryTest<Repository>>) => void,
): void {
  for (const { name, isAvailable, open, isCrossCheck } of STORES) {
    if (IS_QUICK && isCrossCheck) continue;
    describe.skipIf(!isAvailable)(`${name}: ${subject}`, () => {
      const defineCase = (title: string, body: RepositoryTest<Repository>) =>
        test(
          title,
          async () => {
            const clock = new FakeClock();
            const opened = await open(clock);
            const { documents, openSecond, dispose } = opened;
            try {
              const second = openSecond === undefined ? documents : await openSecond();
              for (const store of new Set([documents, second])) {
                await store.prepare([
                  ...COLLECTIONS,
                  ...ACCOUNT_COLLECTIONS,
                  ...LOOKUP_COLLECTIONS,
                ]);
              }
              await body(make(documents), make(second), { documents, opened, clock });
            } finally {
              await dispose();
            }
          },
          TEST_TIMEOUT_MS,
        );
      define(definer(defineCase, isCrossCheck));
    });
  }
}
