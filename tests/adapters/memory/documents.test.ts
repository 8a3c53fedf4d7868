import { documentsContract } from "../../contract/documents/documents-contract.ts";
import { openMemory } from "../../support/document-stores.ts";

documentsContract({ name: "memory", open: openMemory });
