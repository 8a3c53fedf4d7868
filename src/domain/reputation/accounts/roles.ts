// Accounts: who may sign in, and as what. D-5.4.
import type { AccountPlan } from "./plan.ts";

export const ROLES = ["user", "administrator"] as const;

export type Role = (typeof ROLES)[number];

/** Issuer of the accounts and tokens of this service itself. D-5.4. */
export const OWN_ISSUER = "repsync";

export interface Account extends AccountPlan {
  /** Unique, compared exactly. */
  readonly username: string;
  /** Null for accounts of an identity provider or made at start. Unique without regard to case. */
  readonly email: string | null;
  /** Argon2id in PHC form; null for accounts of an identity provider. */
  readonly passwordHash: string | null;
  readonly role: Role;
  /** Issuer whose tokens speak for this account; `OWN_ISSUER` for those that sign in here. */
  readonly issuer: string;
  readonly createdAtMs: number;
}
