// Accounts: names and roles, what signup checks, and what their owners see. D-5.4, D-5.5.
import { type JsonObject, utf8Bytes } from "../../shared/json.ts";
import {
  MAX_EMAIL_CHARS,
  MAX_EMAIL_KEY_BYTES,
  MAX_FOREIGN_USERNAME_CHARS,
  MAX_PASSWORD_CHARS,
  MIN_PASSWORD_CHARS,
} from "../../shared/limits.ts";
import { hasHiddenCharacter, isTextOf } from "../../shared/text.ts";
import { formatMs } from "../../shared/time.ts";
import type { Erasure } from "../../sync/people/erasure.ts";
import { MAX_AHEAD_MS } from "../../sync/rows/row-time.ts";
import { type AccountPlan, type MonthUsage, NEW_ACCOUNT_PLAN } from "./plan.ts";

export const ROLES = ["user", "administrator"] as const;

export type Role = (typeof ROLES)[number];

/** Issuer of the accounts and tokens of this service itself. D-5.4. */
export const OWN_ISSUER = "repsync";

/** Why the password of an account of an identity provider cannot be changed. */
export const NO_PASSWORD = "This account has no password here";

export interface Account extends AccountPlan {
  /** Unique, compared exactly. */
  readonly username: string;
  /** Null for accounts of an identity provider or made at start. Unique by its `emailKey`. */
  readonly email: string | null;
  /** Argon2id in PHC form; null for accounts of an identity provider. */
  readonly passwordHash: string | null;
  readonly role: Role;
  /** Issuer whose tokens speak for this account; `OWN_ISSUER` for those that sign in here. */
  readonly issuer: string;
  readonly createdAtMs: number;
  /** Since when an administrator has it suspended; null while it is active. D-8.8. */
  readonly suspendedAtMs: number | null;
  /** The last sign-in with its password here; null for none. */
  readonly lastSignInAtMs: number | null;
  /** Tokens of its provider that were issued earlier are refused; absent until all its sessions are ended at once. D-8.7. */
  readonly tokensSinceMs?: number;
}

/** The fields with which accounts begin, but for names, times and what is told about them. */
export const NEW_ACCOUNT = {
  email: null,
  passwordHash: null,
  role: "user",
  issuer: OWN_ISSUER,
  ...NEW_ACCOUNT_PLAN,
  suspendedAtMs: null,
  lastSignInAtMs: null,
} as const satisfies Partial<Account>;

export const SIGN_UP_USERNAME = /^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;

/** True for a name that signup gives: 1 to 40 lowercase letters and digits, inside also `-` and `_`. D-5.4. */
export function isSignUpUsername(value: unknown): value is string {
  return typeof value === "string" && SIGN_UP_USERNAME.test(value);
}

/** True for a name of an identity provider (`sub`) or a synced row: any text of 1-200 characters. D-5.4. */
export function isForeignUsername(value: unknown): value is string {
  return isTextOf(value, 1, MAX_FOREIGN_USERNAME_CHARS);
}

/** Some text, one `@`, and a name with a dot inside; no blanks or angle brackets. */
const EMAIL_SHAPE = /^[^\s<>@]+@[^\s<>@.]+(?:\.[^\s<>@.]+)+$/u;

export interface SignUp {
  readonly username: string;
  readonly email: string;
  readonly password: string;
  /** Null or absent when not given. */
  readonly displayName?: string | null;
}

/** True for a text of the shape of an e-mail address, at most 254 characters, none of them hidden. */
export function isEmail(value: unknown): value is string {
  if (!isTextOf(value, 1, MAX_EMAIL_CHARS) || hasHiddenCharacter(value)) return false;
  // No two accounts have a key, which a store finds by it.
  return EMAIL_SHAPE.test(value) && utf8Bytes(emailKey(value)) <= MAX_EMAIL_KEY_BYTES;
}

/** Addresses with the same key count as one: `email_taken` ignores case and how accents are written. D-5.2, D-11.8. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase();
}

/** True for a password of 10-200 characters, of any kind. D-5.4. */
export function isPassword(value: unknown): value is string {
  return isTextOf(value, MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS);
}

/** An account as its owner sees it: the email is empty where there is none. D-5.4. */
export function accountBody(account: Pick<Account, "username" | "email" | "plan" | "role">) {
  const { username, email, plan, role } = account;
  return { username, email: email ?? "", plan, role };
}

/** An account as administrators see it. D-8.8. */
export type AccountItem = ReturnType<typeof accountItem>;

export function accountItem(account: Account) {
  const { username, email, role, plan, suspendedAtMs, createdAtMs, lastSignInAtMs } = account;
  return {
    username,
    email: email ?? "",
    role,
    plan,
    status: suspendedAtMs === null ? "active" : "suspended",
    createdAt: formatMs(createdAtMs),
    lastSignInAt: lastSignInAtMs === null ? null : formatMs(lastSignInAtMs),
  } as const;
}

/** True where the name or the address contains a text, whatever the case of A to Z. D-8.8. */
export function hasAccountText(
  { username, email }: Pick<Account, "username" | "email">,
  text: string,
): boolean {
  const wanted = lowerAscii(text);
  return lowerAscii(username).includes(wanted) || lowerAscii(email ?? "").includes(wanted);
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** True for an account that may administer now. */
export function isActiveAdministrator({ role, suspendedAtMs }: Account): boolean {
  return role === "administrator" && suspendedAtMs === null;
}

/**
 * True for a token that was issued at a time or later, or in the same second. Null: it does not say when. A time too far ahead is
 * of a clock that was wrong: tokens of any time are later. D-8.4.
 */
export function isIssuedSince(sinceMs: number, issuedAtMs: number | null, nowMs: number): boolean {
  if (issuedAtMs === null) return false;
  return issuedAtMs >= Math.floor(sinceMs / 1000) * 1000 || sinceMs > nowMs + MAX_AHEAD_MS;
}

/** The first second of which all tokens were issued after a time: no token tells more than its second. */
export function tokensAfterMs(atMs: number): number {
  return (Math.floor(atMs / 1000) + 1) * 1000;
}

// Facts about signups and erasures. D-5.4, D-5.5.

/** The row in the table of profiles that a new account begins with. */
export function firstProfile(account: Account, displayName: string | null): JsonObject {
  const now = formatMs(account.createdAtMs);
  return {
    username: account.username,
    display_name: displayName,
    verified: false,
    created_at: now,
    updated_at: now,
  };
}

/** An erasure as stores keep it, under an HMAC of the name. D-8.2. */
export interface ErasedName extends Erasure {
  /** The calls of the name until then, which go on counting; null for none. */
  readonly month: MonthUsage | null;
}
