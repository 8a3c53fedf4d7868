// An audit log without lookups: chains that are appended to as batches do, and what reads them.
import { NodeMac } from "../../../src/adapters/node-crypto/node-crypto.ts";
import type { AuditEntry } from "../../../src/domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../../src/domain/reputation/audit/audit-check.ts";
import { INDEX_SHAPE, type IndexShape } from "../../../src/domain/reputation/audit/name-filter.ts";
import type { DocumentStore } from "../../../src/ports/documents.ts";
import { LOOKUP_LOG } from "../../../src/repositories/lookup-collections.ts";
import { AuditChains, OwnChain, Subjects } from "../../../src/repositories/lookups/audit-chains.ts";
import { AuditLog } from "../../../src/repositories/lookups/audit-log.ts";
import { AuditSearch } from "../../../src/repositories/lookups/audit-search.ts";
import { SegmentWriter } from "../../../src/repositories/lookups/segment-writer.ts";
import {
  type AuditVerdict,
  verifyAudit,
} from "../../../src/usecases/reputation/audit/verify-audit.ts";

export const AUDIT_KEY = new Uint8Array(32).fill(7);
export const MAC = new NodeMac();

const FIRST_MS = Date.UTC(2026, 2, 1, 12);

/** One process that writes a log. */
export class AuditScene {
  readonly documents: DocumentStore;
  readonly subjects = new Subjects(MAC, AUDIT_KEY);
  readonly chains = new AuditChains(this.subjects);
  readonly audit: AuditLog;
  readonly search: AuditSearch;
  readonly segments: SegmentWriter;
  /** The one that it appended to last. */
  chainId = "";
  readonly #own = new OwnChain();
  #count = 0;

  constructor(documents: DocumentStore, shape: IndexShape = INDEX_SHAPE) {
    this.documents = documents;
    this.audit = new AuditLog(documents, shape);
    this.search = new AuditSearch(documents, this.subjects, shape);
    this.segments = new SegmentWriter(documents, shape);
  }

  /** Appends records about names in one commit, so many milliseconds after noon, and indexes what is due. */
  async append(names: readonly string[], afterMs = 0, accountId = ""): Promise<void> {
    const entries = names.map((name) => this.#entry(name, FIRST_MS + afterMs, accountId));
    const appended = await this.documents.transact({ name: "test.append" }, async (tx) => {
      const [log] = await tx.read({ from: LOOKUP_LOG, keys: this.#own.keys });
      const { chain } = this.#own.stateAt(log);
      return this.chains.append(tx, chain ?? (await this.chains.begin(tx)), entries);
    });
    this.#own.goOnFrom(appended.written);
    this.chainId = appended.written.chainId;
    await this.segments.note(appended);
  }

  async verify(): Promise<AuditVerdict> {
    return await verifyAudit({ audit: this.audit as never, mac: MAC, auditKey: AUDIT_KEY });
  }

  async records(chainId = this.chainId): Promise<readonly StoredRecord[]> {
    const all = { after: null, limit: Number.POSITIVE_INFINITY };
    return (await this.audit.records(chainId, all)).records;
  }

  #entry(name: string, atMs: number, accountId: string): AuditEntry {
    return {
      at: new Date(atMs).toISOString(),
      requestId: `request-${++this.#count}`,
      accountId,
      keyId: "key",
      endpoint: "reputation",
      purpose: "reputation_lookup",
      subjectHmac: this.subjects.hmacOfAbsent(name),
      consentId: this.#count % 3 === 0 ? null : this.#count,
      decision: this.#count % 2 === 0 ? "allowed" : "denied",
      code: this.#count % 2 === 0 ? null : "consent_required",
      status: this.#count % 2 === 0 ? 200 : 403,
    };
  }
}
