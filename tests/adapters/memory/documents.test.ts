import {
  documentsContract,
  documentTablesContract,
} from "../../contract/documents/documents-contract.ts";
import { openMemory } from "../../support/stores/document-stores.ts";
import { openMemoryTables } from "../../support/stores/document-table-stores.ts";

documentsContract({ name: "memory", open: openMemory });
documentTablesContract({ name: "memory", open: openMemoryTables });
