import { describe, expect, test } from "bun:test";
import {
  CONSENT_PURPOSES,
  CONSENT_STATUSES,
  type Consent,
  type ConsentPurpose,
  consentItem,
  consentStatus,
  findCoveringConsent,
  type LookupEndpoint,
  matchesFilter,
  ownPurpose,
  readConsentFilter,
  readExpiry,
} from "../../../../src/domain/reputation/accounts/consent.ts";
import type { InputProblem } from "../../../../src/domain/shared/errors.ts";
import { namingOf } from "../../../../src/http/replies.ts";
import { ConsentSchema } from "../../../../src/http/schemas/account.ts";

const NOW = "2026-03-01T12:00:00.500Z";
const NOW_MS = Date.parse(NOW);
const ACTIVE: Consent = {
  id: 7,
  username: "ana",
  purpose: "reputation_lookup",
  grantedAt: "2026-01-01T00:00:00Z",
  expiresAt: null,
  ended: null,
};
const EXPIRED: Consent = { ...ACTIVE, id: 6, expiresAt: "2026-02-01T00:00:00Z" };
const REVOKED: Consent = {
  ...ACTIVE,
  id: 5,
  ended: { as: "revoked", at: "2026-01-02T00:00:00Z" },
};
const SUPERSEDED: Consent = {
  ...ACTIVE,
  id: 4,
  ended: { as: "superseded", at: "2026-01-01T00:00:00Z" },
};

test("D-6.1 the purposes and statuses are those of the decision", () => {
  expect(CONSENT_PURPOSES).toEqual(["reputation_lookup", "profile_lookup", "platforms_lookup"]);
  expect(CONSENT_STATUSES).toEqual(["active", "revoked", "expired", "superseded"]);
});

describe("status", () => {
  test("D-6.1 consentStatus() names the end that was made, else what expires_at says", () => {
    expect(consentStatus(ACTIVE, NOW_MS)).toBe("active");
    expect(consentStatus(EXPIRED, NOW_MS)).toBe("expired");
    expect(consentStatus(REVOKED, NOW_MS)).toBe("revoked");
    expect(consentStatus(SUPERSEDED, NOW_MS)).toBe("superseded");
  });

  test("D-6.1 a consent that was ended before its expiry keeps that status after it", () => {
    const expiresAt = "2026-02-01T00:00:00Z";
    expect(consentStatus({ ...REVOKED, expiresAt }, NOW_MS)).toBe("revoked");
    expect(consentStatus({ ...SUPERSEDED, expiresAt }, NOW_MS)).toBe("superseded");
  });

  test.each([
    ["2026-03-01T12:00:00.500001Z", "active"],
    ["2026-03-01T12:00:00.501Z", "active"],
    ["2026-03-01T12:00:00.500Z", "expired"],
    ["2026-03-01T12:00:00.499999Z", "expired"],
    ["2026-03-01T12:00:00Z", "expired"],
  ])("D-6.1 a consent until %s is %s half a second after noon", (expiresAt, status) => {
    expect(consentStatus({ ...ACTIVE, expiresAt }, NOW_MS)).toBe(status as "active");
  });
});

describe("coverage", () => {
  const covered: [ConsentPurpose, LookupEndpoint[]][] = [
    ["reputation_lookup", ["reputation", "profile", "platforms"]],
    ["profile_lookup", ["profile"]],
    ["platforms_lookup", ["platforms"]],
  ];

  test.each(covered)("D-6.1 %s covers %p alone", (purpose, endpoints) => {
    const all: LookupEndpoint[] = ["reputation", "profile", "platforms"];
    const consents = [{ ...ACTIVE, purpose }];
    expect(all.filter((one) => findCoveringConsent(consents, one, NOW_MS) !== null)).toEqual(
      endpoints,
    );
  });

  test("D-5.5 each endpoint has a purpose of its own", () => {
    expect(ownPurpose("reputation")).toBe("reputation_lookup");
    expect(ownPurpose("profile")).toBe("profile_lookup");
    expect(ownPurpose("platforms")).toBe("platforms_lookup");
  });

  test("D-6.1 only an active consent allows", () => {
    const ended = [EXPIRED, REVOKED, SUPERSEDED];
    expect(findCoveringConsent([], "reputation", NOW_MS)).toBeNull();
    expect(findCoveringConsent(ended, "reputation", NOW_MS)).toBeNull();
    expect(findCoveringConsent([...ended, ACTIVE], "reputation", NOW_MS)?.id).toBe(7);
  });

  test("D-6.5 the consent for the endpoint's own purpose is named first, then the newest", () => {
    const own = { ...ACTIVE, id: 2, purpose: "profile_lookup" } as const;
    expect(findCoveringConsent([ACTIVE, own], "profile", NOW_MS)?.id).toBe(2);
    expect(findCoveringConsent([ACTIVE, { ...ACTIVE, id: 9 }], "profile", NOW_MS)?.id).toBe(9);
  });
});

describe("a grant", () => {
  test("D-6.1 its end is canonical text, or null for never", () => {
    expect(readExpiry(undefined, NOW_MS)).toBeNull();
    expect(readExpiry(null, NOW_MS)).toBeNull();
    expect(readExpiry("2027-01-01T07:00:00+07:00", NOW_MS)).toBe("2027-01-01T00:00:00Z");
    expect(readExpiry("2027-01-01", NOW_MS)).toBe("2027-01-01T00:00:00Z");
    expect(readExpiry("2026-03-01T12:00:00.500001Z", NOW_MS)).toBe("2026-03-01T12:00:00.500001Z");
  });

  test.each([
    ...["", "soon", "2026-13-01T00:00:00Z"].map((text) => [
      text,
      "Must be an ISO 8601 date and time, or null",
    ]),
    ...[NOW, "2026-03-01T12:00:00.499999Z", "2020-01-01"].map((text) => [
      text,
      "Must be in the future",
    ]),
  ])("D-5.5, D-6.1 the end %p is refused", (text, detail) => {
    expect(() => readExpiry(text, NOW_MS)).toThrow(
      expect.objectContaining({
        kind: "invalid_request",
        problems: [{ pointer: "/expires_at", detail }],
      }),
    );
  });
});

describe("the list", () => {
  test("R-2.4 a consent is shown with the five fields in the document's order", () => {
    expect(JSON.stringify(namingOf(ConsentSchema)(consentItem(EXPIRED, NOW_MS)))).toBe(
      '{"id":6,"purpose":"reputation_lookup","granted_at":"2026-01-01T00:00:00Z",' +
        '"expires_at":"2026-02-01T00:00:00Z","status":"expired"}',
    );
    expect(consentItem(ACTIVE, NOW_MS).expiresAt).toBeNull();
  });

  test("D-6.1 filters take the known values, and empty for none", () => {
    const given = { status: "expired", purpose: "platforms_lookup" } as const;
    const problems: InputProblem[] = [];
    expect(readConsentFilter({}, problems)).toEqual({ status: null, purpose: null });
    expect(readConsentFilter({ status: "", purpose: null }, problems)).toEqual({
      status: null,
      purpose: null,
    });
    expect(readConsentFilter(given, problems)).toEqual(given);
    expect(problems).toEqual([]);
  });

  test("D-6.1 an unknown filter value is a problem", () => {
    const problems: InputProblem[] = [];
    readConsentFilter({ status: "Active", purpose: "all" }, problems);
    expect(problems.map(({ pointer }) => pointer)).toEqual(["/status", "/purpose"]);
  });

  test("D-6.1 matchesFilter() compares the status at read time", () => {
    const show = (consent: Consent, status: string | null, purpose: string | null) => {
      const filter = readConsentFilter({ status, purpose }, []);
      return matchesFilter(consent, filter, NOW_MS);
    };
    expect(show(EXPIRED, "expired", null)).toBe(true);
    expect(show(EXPIRED, "active", null)).toBe(false);
    expect(show(ACTIVE, "active", "reputation_lookup")).toBe(true);
    expect(show(ACTIVE, "active", "profile_lookup")).toBe(false);
    expect(show(REVOKED, null, null)).toBe(true);
  });
});
