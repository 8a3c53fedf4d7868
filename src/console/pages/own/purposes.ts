// What lookups are for, in words. D-6.1.
import type { Consent } from "../../api/interface.ts";

type Purpose = Consent["purpose"];

/** What a consent to a purpose allows. */
export const PURPOSES: readonly (readonly [Purpose, string])[] = [
  ["reputation_lookup", "Score, profile and platforms"],
  ["profile_lookup", "Profile only"],
  ["platforms_lookup", "Platforms only"],
];

/** What was asked for by a lookup. */
export const LOOKUPS: Readonly<Record<Purpose, string>> = {
  reputation_lookup: "Score",
  profile_lookup: "Profile",
  platforms_lookup: "Platforms",
};

/** What a consent to a purpose allows, in words. */
export function purposeText(purpose: Purpose): string {
  return PURPOSES.find(([name]) => name === purpose)?.[1] ?? purpose;
}
