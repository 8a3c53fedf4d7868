import type { LookupRefusal } from "../../../domain/reputation/accounts/consent.ts";

type LookupResult = "allowed" | LookupRefusal;

/** Lookups by outcome since the start, for /metrics: `allowed` or the code of the problem. */
export type LookupCounts = ReadonlyMap<LookupResult, number>;

/** Results that count against the limits of their account. */
const DECIDED: readonly LookupResult[] = ["allowed", "profile_not_found", "consent_required"];

/** The lookups of this process since its start; a command has none. */
export class LookupTally {
  readonly #counts = new Map<LookupResult, number>();
  #begun = 0;

  begin(): void {
    this.#begun++;
  }

  /** `problem`: null when allowed. */
  count(problem: LookupRefusal | null): void {
    const name = problem ?? "allowed";
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  counts(): LookupCounts {
    return this.#counts;
  }

  decided(): number {
    return DECIDED.reduce((sum, name) => sum + (this.#counts.get(name) ?? 0), 0);
  }

  /** Those with a well-formed key, decided or about to be. */
  begun(): number {
    return this.#begun;
  }
}
