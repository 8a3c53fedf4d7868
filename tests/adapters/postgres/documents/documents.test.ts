import { describe } from "bun:test";
import {
  documentTablesContract,
  serverDocumentsContract,
} from "../../../contract/documents/documents-contract.ts";
import { openPostgres } from "../../../support/stores/document-stores.ts";
import { openPostgresTables } from "../../../support/stores/document-table-stores.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";

describe.skipIf(!postgresAvailable)("PostgreSQL documents", () => {
  serverDocumentsContract({ name: "PostgreSQL", open: openPostgres });
  documentTablesContract({ name: "PostgreSQL", holds: "own types", open: openPostgresTables });
});
