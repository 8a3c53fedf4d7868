import { describe } from "bun:test";
import {
  documentTablesContract,
  serverDocumentsContract,
} from "../../../contract/documents/documents-contract.ts";
import { openMongo } from "../../../support/stores/document-stores.ts";
import { openMongoTables } from "../../../support/stores/document-table-stores.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";

describe.skipIf(!mongoAvailable)("MongoDB", () => {
  serverDocumentsContract({ name: "MongoDB", open: openMongo });
  documentTablesContract({ name: "MongoDB", open: openMongoTables });
});
