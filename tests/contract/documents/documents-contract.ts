import { documentCommits } from "./document-commits.ts";
import { documentConflicts, documentTurns } from "./document-conflicts.ts";
import { documentDamage } from "./document-damage.ts";
import { documentReads } from "./document-reads.ts";
import { documentRowChanges } from "./document-row-changes.ts";
import { documentTableConflicts } from "./document-table-conflicts.ts";
import { documentTables } from "./document-tables.ts";
import { documentVersions } from "./document-versions.ts";
import type { DocumentsHarness } from "./documents-harness.ts";
import type { DocumentTablesHarness } from "./tables-harness.ts";
import { yielding, yieldingTables } from "./yielding.ts";

/** What every `DocumentStore` does, once as it is and once with bodies that yield at random. */
export function documentsContract(harness: DocumentsHarness): void {
  for (const each of [harness, yielding(harness)]) {
    documentReads(each);
    documentCommits(each);
    documentConflicts(each);
    documentDamage(each);
    documentVersions(each);
  }
}

/** The same of a store whose instances meet at a server. */
export function serverDocumentsContract(harness: DocumentsHarness): void {
  documentsContract(harness);
  for (const each of [harness, yielding(harness)]) documentTurns(each);
}

/** What a `DocumentStore` does to the rows of tables, likewise. */
export function documentTablesContract(harness: DocumentTablesHarness): void {
  for (const each of [harness, yieldingTables(harness)]) {
    documentTables(each);
    documentRowChanges(each);
    documentTableConflicts(each);
  }
}
