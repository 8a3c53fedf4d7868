// Accounts at signup, and as their owners see them. D-5.4, D-5.5.

import { MAX_EMAIL_CHARS, MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../shared/limits.ts";
import { isTextOf } from "../../shared/text.ts";
import type { PlanName } from "./plan.ts";
import type { Account, Role } from "./roles.ts";

/** Some text, one `@`, and a name with a dot inside; no blanks, angle brackets or invisible characters. */
const EMAIL_SHAPE = /^[^\s\p{Cc}\p{Cf}<>@]+@[^\s\p{Cc}\p{Cf}<>@.]+(?:\.[^\s\p{Cc}\p{Cf}<>@.]+)+$/u;

/** The body of a signup reply and of `GET /v1/me`. D-5.4. */
export interface AccountBody {
  readonly username: string;
  /** `""` when there is none. */
  readonly email: string;
  readonly plan: PlanName;
  readonly role: Role;
}

export interface SignUp {
  readonly username: string;
  readonly email: string;
  readonly password: string;
  /** Null or absent when not given. */
  readonly displayName?: string | null;
}

/** True for a text of the shape of an e-mail address, at most 254 characters. */
export function isEmail(value: unknown): value is string {
  return isTextOf(value, 1, MAX_EMAIL_CHARS) && EMAIL_SHAPE.test(value);
}

/** Addresses with the same key count as one: `email_taken` ignores case. D-5.2. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** True for a password of 10-200 characters, of any kind. D-5.4. */
export function isPassword(value: unknown): value is string {
  return isTextOf(value, MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS);
}

/** An account as its owner sees it, in the field order of D-5.4. */
export function accountBody(
  account: Pick<Account, "username" | "email" | "plan" | "role">,
): AccountBody {
  const { username, email, plan, role } = account;
  return { username, email: email ?? "", plan, role };
}
