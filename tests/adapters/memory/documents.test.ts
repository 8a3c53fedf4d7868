import { documentsContract } from "../../contract/documents/documents-contract.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryDocuments } from "../../support/memory/documents.ts";

documentsContract({
  name: "memory",
  open: async () => {
    const clock = new FakeClock();
    const documents = new MemoryDocuments(clock);
    return { documents, nowMs: () => clock.nowMs(), dispose: async () => {} };
  },
});
