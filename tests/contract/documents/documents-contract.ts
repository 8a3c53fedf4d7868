import { documentCommits } from "./document-commits.ts";
import { documentConflicts } from "./document-conflicts.ts";
import { documentReads } from "./document-reads.ts";
import { documentVersions } from "./document-versions.ts";
import type { DocumentsHarness } from "./documents-harness.ts";
import { yielding } from "./yielding.ts";

/** What every `DocumentStore` does, once as it is and once with bodies that yield at random. */
export function documentsContract(harness: DocumentsHarness): void {
  for (const each of [harness, yielding(harness)]) {
    documentReads(each);
    documentCommits(each);
    documentConflicts(each);
    documentVersions(each);
  }
}
