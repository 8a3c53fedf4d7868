import { describe } from "bun:test";
import {
  documentsContract,
  documentTablesContract,
} from "../../../contract/documents/documents-contract.ts";
import { openPostgres } from "../../../support/document-stores.ts";
import { openPostgresTables } from "../../../support/document-table-stores.ts";
import { postgresAvailable } from "../../../support/shared-postgres.ts";

describe.skipIf(!postgresAvailable)("PostgreSQL documents", () => {
  documentsContract({ name: "PostgreSQL", open: openPostgres });
  documentTablesContract({ name: "PostgreSQL", holds: "own types", open: openPostgresTables });
});
