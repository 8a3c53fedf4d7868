// Decides a lookup whose key and limits have been checked: profile, then consent. D-5.8.
import type { JsonObject } from "../../shared/json.ts";
import {
  type Consent,
  findCoveringConsent,
  type LookupEndpoint,
  ownPurpose,
} from "../accounts/consent.ts";
import type { AuditEntry } from "../audit/audit-chain.ts";
import { isPublicProfile } from "../score/profile.ts";

/** A looked-up person as stored at one moment. */
export interface LookupSubject {
  /** The row of `profiles`; null when there is none. */
  readonly profile: JsonObject | null;
  readonly accounts: readonly JsonObject[];
  /** The consents that were not ended; expired ones may be among them. */
  readonly consents: readonly Consent[];
  /** Stands for the person in the audit log. */
  readonly subjectHmac: string;
}

/** A request of a caller. */
interface LookupRequest {
  readonly endpoint: LookupEndpoint;
  readonly requestId: string;
  /** The caller's account, by the id that stands for it in the audit. */
  readonly accountId: string;
  readonly keyId: string;
  readonly nowMs: number;
}

/** The answer to a lookup, with its audit entry. */
export interface LookupDecision {
  /** Null when allowed. */
  readonly code: "profile_not_found" | "consent_required" | null;
  readonly entry: AuditEntry;
}

/** Decides a lookup. A hidden profile gets the same answer as a missing one. D-6.2. */
export function decideLookup(subject: LookupSubject, request: LookupRequest): LookupDecision {
  const { endpoint, nowMs } = request;
  const isThere = subject.profile !== null && isPublicProfile(subject.profile);
  const consent = isThere ? findCoveringConsent(subject.consents, endpoint, nowMs) : null;
  const refusal = isThere ? "consent_required" : "profile_not_found";
  const code = consent === null ? refusal : null;
  return {
    code,
    entry: {
      // With all three digits, as stores order records by this text.
      at: new Date(nowMs).toISOString(),
      requestId: request.requestId,
      accountId: request.accountId,
      keyId: request.keyId,
      endpoint,
      purpose: ownPurpose(endpoint),
      subjectHmac: subject.subjectHmac,
      consentId: consent?.id ?? null,
      decision: code === null ? "allowed" : "denied",
      code,
      status: code === null ? 200 : code === "consent_required" ? 403 : 404,
    },
  };
}
