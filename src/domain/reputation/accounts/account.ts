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
import type { Erasure } from "../../sync/people/name-facts.ts";
import { MAX_AHEAD_MS } from "../../sync/rows/row-time.ts";
import { type AccountPlan, type MonthUsage, NEW_ACCOUNT_PLAN } from "./plan.ts";

export const ROLES = ["user", "administrator"] as const;

export type Role = (typeof ROLES)[number];

/** Issuer of the accounts and tokens of this service itself. D-5.4. */
export const OWN_ISSUER = "repsync";

export const NO_PASSWORD = "This account has no password here";

export interface Account extends AccountPlan {
  /** Unique, compared exactly. */
  readonly username: string;
  /** Unique by its `emailKey`. Null for accounts of an identity provider, and for accounts made at start. */
  readonly email: string | null;
  /** Argon2id in PHC form; null for accounts of an identity provider. */
  readonly passwordHash: string | null;
  readonly role: Role;
  /** Issuer whose tokens speak for this account; `OWN_ISSUER` for those that sign in here. */
  readonly issuer: string;
  readonly createdAtMs: number;
  /** Time of its suspension by an administrator; null while the account is active. D-8.8. */
  readonly suspendedAtMs: number | null;
  /** The last sign-in by password; null for none. */
  readonly lastSignInAtMs: number | null;
  /** Earlier tokens of its identity provider are refused; absent until all its sessions are first ended at once. D-8.7. */
  readonly tokensSinceMs?: number;
}

/** The fields that are the same in every new account. */
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
  readonly displayName?: string | null;
}

/** True for a text of the shape of an e-mail address, at most 254 characters, none of them hidden. */
export function isEmail(value: unknown): value is string {
  if (!isTextOf(value, 1, MAX_EMAIL_CHARS) || hasHiddenCharacter(value)) return false;
  // The `emailKey` is part of a document's key, whose size is limited.
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

/** As its owner sees it; an empty email for none. D-5.4. */
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

export function isActiveAdministrator({ role, suspendedAtMs }: Account): boolean {
  return role === "administrator" && suspendedAtMs === null;
}

/**
 * True for a token issued in the second of `sinceMs` or later. `issuedAtMs` is null where the token does not say: false. A
 * `sinceMs` too far ahead is of a wrong clock, and every token that says when it was issued passes. D-8.4.
 */
export function isIssuedSince(sinceMs: number, issuedAtMs: number | null, nowMs: number): boolean {
  if (issuedAtMs === null) return false;
  return issuedAtMs >= Math.floor(sinceMs / 1000) * 1000 || sinceMs > nowMs + MAX_AHEAD_MS;
}

/** The start of the second after `atMs`: tokens tell whole seconds, so from then on each is surely later. */
export function tokensAfterMs(atMs: number): number {
  return (Math.floor(atMs / 1000) + 1) * 1000;
}

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
  /** Calls of the name in the month of its erasure, which go on counting; null for none. */
  readonly month: MonthUsage | null;
}
