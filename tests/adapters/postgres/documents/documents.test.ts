import { describe, expect } from "bun:test";
import {
  documentTablesContract,
  serverDocumentsContract,
} from "../../../contract/documents/documents-contract.ts";
import { itemsCollection } from "../../../contract/documents/documents-harness.ts";
import { openPostgres } from "../../../support/stores/document-stores.ts";
import { openPostgresTables } from "../../../support/stores/document-table-stores.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest } from "../support.ts";

describe.skipIf(!postgresAvailable)("PostgreSQL documents", () => {
  serverDocumentsContract({ name: "PostgreSQL", open: openPostgres });
  documentTablesContract({ name: "PostgreSQL", holds: "own types", open: openPostgresTables });

  databaseTest(
    "a document that another program took the key from fails the read that meets it",
    async (database) => {
      const { documents } = await database.open();
      const from = itemsCollection();
      await documents.prepare([from]);
      await documents.transact({ name: "test.put" }, async (tx) =>
        tx.put(from, { key: ["a"], value: 1 }),
      );
      await database.sql.unsafe(`update repsync.${from.name} set doc = '{}'`);
      const reading = documents.read({ name: "test.read" }, (at) =>
        at.read({ from, keys: [["a"]] }),
      );
      await expect(reading).rejects.toMatchObject({ kind: "store_unavailable" });
    },
  );
});
