// Consents of a profile's owner to lookups, and the expiry that they have in common with API keys., D-6.1.
import { type InputProblem, refuse } from "../../shared/errors.ts";
import { MAX_KEPT_ENDED } from "../../shared/limits.ts";
import { compareDateTimes, formatMs, parseDateTime } from "../../shared/time.ts";

/** Why a lookup is refused, as the reply and the audit log say it. D-5.2. */
export type LookupRefusal =
  | "api_key_missing"
  | "api_key_invalid"
  | "api_key_revoked"
  | "api_key_expired"
  | "account_suspended"
  | "rate_limited"
  | "quota_exceeded"
  | "profile_not_found"
  | "consent_required";

export type LookupEndpoint = "reputation" | "profile" | "platforms";

export const CONSENT_PURPOSES = [
  "reputation_lookup",
  "profile_lookup",
  "platforms_lookup",
] as const;

export type ConsentPurpose = (typeof CONSENT_PURPOSES)[number];

/** Only `active` allows lookups; the others never change again. D-6.1. */
export const CONSENT_STATUSES = ["active", "revoked", "expired", "superseded"] as const;

type ConsentStatus = (typeof CONSENT_STATUSES)[number];

/** A consent as stored. Times are canonical text. */
export interface Consent {
  /** Grows with every grant. */
  readonly id: number;
  /** The owner. */
  readonly username: string;
  readonly purpose: ConsentPurpose;
  readonly grantedAt: string;
  /** Null when it does not expire. */
  readonly expiresAt: string | null;
  /** Null while not ended; expiry is derived, not stored. */
  readonly ended: ConsentEnd | null;
}

interface ConsentEnd {
  /** `expired` when it was revoked after its expiry, so that no slower clock makes it active again. */
  readonly as: "revoked" | "superseded" | "expired";
  readonly at: string;
}

export interface ConsentGrant {
  readonly purpose: ConsentPurpose;
  readonly expiresAt: string | null;
  readonly nowMs: number;
}

/** The consents that a list shows; null for all. */
export interface ConsentFilter {
  readonly status: ConsentStatus | null;
  readonly purpose: ConsentPurpose | null;
}

export interface ConsentFilterQuery {
  readonly status?: string | null;
  readonly purpose?: string | null;
}

/** The purposes that allow an endpoint, its own first. `reputation_lookup` covers all three. D-6.1. */
const COVERING_PURPOSES: Readonly<
  Record<LookupEndpoint, readonly [ConsentPurpose, ...ConsentPurpose[]]>
> = {
  reputation: ["reputation_lookup"],
  profile: ["profile_lookup", "reputation_lookup"],
  platforms: ["platforms_lookup", "reputation_lookup"],
};

/** The purpose of an endpoint, also in the audit log. D-5.5. */
export function ownPurpose(endpoint: LookupEndpoint): ConsentPurpose {
  return COVERING_PURPOSES[endpoint][0];
}

/** Expired from `expiresAt` on, that moment included. D-6.1. */
export function consentStatus(consent: Consent, nowMs: number): ConsentStatus {
  if (consent.ended !== null) return consent.ended.as;
  return isOver(consent.expiresAt, nowMs) ? "expired" : "active";
}

/** The active consent that allows an endpoint; null for none. Of several, one for the endpoint's own purpose, then the newest. */
export function findCoveringConsent(
  consents: readonly Consent[],
  endpoint: LookupEndpoint,
  nowMs: number,
): Consent | null {
  for (const purpose of COVERING_PURPOSES[endpoint]) {
    let newest: Consent | null = null;
    for (const consent of consents) {
      if (consent.purpose !== purpose || consent.id < (newest?.id ?? 0)) continue;
      if (consentStatus(consent, nowMs) === "active") newest = consent;
    }
    if (newest !== null) return newest;
  }
  return null;
}

/** The new consent without its id, and the consents that it supersedes among `earlier`, the owner's: for one commit. D-6.1. */
export function planGrant(username: string, earlier: readonly Consent[], grant: ConsentGrant) {
  const { purpose, expiresAt, nowMs } = grant;
  const grantedAt = formatMs(nowMs);
  const superseded = earlier
    .filter((consent) => consent.purpose === purpose)
    .filter((consent) => consentStatus(consent, nowMs) === "active")
    .map((consent): Consent => ({ ...consent, ended: { as: "superseded", at: grantedAt } }));
  return { superseded, granted: { username, purpose, grantedAt, expiresAt, ended: null } };
}

/** The consent after its owner revoked it: the same object when it had ended; an expired one stays expired. D-6.1, D-6.3. */
export function revokeConsent(consent: Consent, nowMs: number): Consent {
  if (consent.ended !== null) return consent;
  const as = consentStatus(consent, nowMs) === "active" ? "revoked" : "expired";
  return { ...consent, ended: { as, at: formatMs(nowMs) } };
}

/** Ids of the consents to forget. `consents` are all of an owner, in the order of their ids. D-11.7. */
export function forgottenConsents(consents: readonly Consent[], nowMs: number): readonly number[] {
  const ended = consents.filter((consent) => consentStatus(consent, nowMs) !== "active");
  const endOf = ({ ended, expiresAt }: Consent) => ended?.at ?? expiresAt ?? "";
  return longEnded(ended.map((consent) => ({ id: consent.id, endedAt: endOf(consent) })));
}

/** A consent as its owner sees it.. */
export function consentItem(consent: Consent, nowMs: number) {
  return { ...consent, status: consentStatus(consent, nowMs) };
}

/** Reads the filters of the list. Absent, null or empty is none; an unknown value is added to `problems`. D-6.1. */
export function readConsentFilter(
  query: ConsentFilterQuery,
  problems: InputProblem[],
): ConsentFilter {
  const status = CONSENT_STATUSES.find((known) => known === query.status) ?? null;
  const purpose = CONSENT_PURPOSES.find((known) => known === query.purpose) ?? null;
  if (status === null && query.status) problems.push(oneOf("/status", CONSENT_STATUSES));
  if (purpose === null && query.purpose) problems.push(oneOf("/purpose", CONSENT_PURPOSES));
  return { status, purpose };
}

export function matchesFilter(
  consent: Consent,
  { status, purpose }: ConsentFilter,
  nowMs: number,
): boolean {
  if (purpose !== null && consent.purpose !== purpose) return false;
  return status === null || consentStatus(consent, nowMs) === status;
}

function oneOf(pointer: string, values: readonly string[]): InputProblem {
  return { pointer, detail: `Must be one of ${values.join(", ")}` };
}

/** The problem of an `expires_at`, of a consent or an API key, that is not a time. */
export const NO_EXPIRY = "Must be an ISO 8601 date and time, or null";

/** Canonical; null for never. Throws `invalid_request` for text that is no time (D-3.2), and for a time that is not after now. */
export function readExpiry(expiresAt: string | null | undefined, nowMs: number): string | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const time = parseDateTime(expiresAt);
  if (time === null) refuse([{ pointer: "/expires_at", detail: NO_EXPIRY }]);
  if (isOver(time, nowMs)) refuse([{ pointer: "/expires_at", detail: "Must be in the future" }]);
  return time;
}

/** True from `expiresAt` on, that moment included; null is never. */
export function isOver(expiresAt: string | null, nowMs: number): boolean {
  return expiresAt !== null && compareDateTimes(expiresAt, formatMs(nowMs)) <= 0;
}

/** Ids of all but the last 1,000 that ended, by canonical `endedAt`; of equal times the first in the list ended first. D-11.7. */
export function longEnded<Id>(
  ended: readonly { readonly id: Id; readonly endedAt: string }[],
): readonly Id[] {
  return ended
    .toSorted((a, b) => compareDateTimes(a.endedAt, b.endedAt))
    .slice(0, -MAX_KEPT_ENDED)
    .map(({ id }) => id);
}
