// The data model of accounts and people: the documents that repositories keep of them.
import type { Account, ErasedName } from "../domain/reputation/accounts/account.ts";
import type { StoredApiKey } from "../domain/reputation/accounts/api-key.ts";
import type { CountedEvents } from "../domain/reputation/accounts/attempts.ts";
import type { Consent } from "../domain/reputation/accounts/consent.ts";
import { type Key, keysOf } from "../domain/shared/document-key.ts";
import type { AnyCollection, Collection, Reader } from "../ports/documents.ts";

export interface AccountDocument extends Account {
  /** True when the owner has set the profile's `public` to false; absent otherwise. */
  readonly hidesProfile?: true;
}

/** Changes of its keys, consents or sessions lock or put it. Taking an administrator away locks `ADMINISTRATORS`, nobody's key. */
export const ACCOUNTS: Collection<AccountDocument> = {
  name: "accounts",
  fields: [
    "username",
    "email",
    "role",
    "issuer",
    "plan",
    "callsPerMonth",
    "rateLimitPerMinute",
    "createdAtMs",
    "suspendedAtMs",
    "lastSignInAtMs",
    "tokensSinceMs",
    "passwordHash",
    "hidesProfile",
  ],
  keyOf: ({ username }) => [username],
  indexes: {
    /** Administrators only: at `ACTIVE`, or at `SUSPENDED`. */
    administrators: ({ role, suspendedAtMs }) =>
      role === "administrator" ? [suspendedAtMs === null ? ACTIVE : SUSPENDED] : null,
  },
};

export const ADMINISTRATORS: Key = ["", "administrators"];
export const ACTIVE = "active";
export const SUSPENDED = "suspended";

/** A text that no two accounts may have, as a document of its own. */
interface ClaimDocument {
  readonly kind: "email";
  /** The `emailKey`. */
  readonly text: string;
  readonly username: string;
}

export const CLAIMS: Collection<ClaimDocument> = {
  name: "claims",
  fields: ["kind", "text", "username"],
  keyOf: ({ kind, text }) => [kind, text],
};

export interface SessionDocument {
  /** Empty for the kept end of a session that began elsewhere. */
  readonly username: string;
  readonly id: string;
  readonly expiresAtMs: number;
}

export const SESSIONS: Collection<SessionDocument> = {
  name: "sessions",
  fields: ["username", "id", "expiresAtMs"],
  keyOf: ({ username, id }) => [username, id],
  indexes: { end: ({ expiresAtMs }) => [expiresAtMs] },
};

export const SIGN_INS: Collection<CountedEvents> = {
  name: "sign_ins",
  fields: ["key", "atMs", "endsAtMs"],
  keyOf: ({ key }) => key,
  indexes: { end: ({ endsAtMs }) => [endsAtMs] },
};

export type SecretName =
  | "jwt_secret"
  | "api_key_pepper"
  | "api_key_pepper_mark"
  | "erased_names_key"
  /** Not secret: it tells that there ever was an audit record, and stands where nobody looks who removes the log. D-8.9. */
  | "first_lookup";

export interface SecretDocument {
  readonly name: SecretName;
  readonly secret: string;
}

export const SECRETS: Collection<SecretDocument> = {
  name: "secrets",
  fields: ["name", "secret"],
  keyOf: ({ name }) => [name],
};

export interface KeyDocument extends StoredApiKey {
  /** Counts the account's keys in the order in which they were made. */
  readonly number: number;
}

export const KEYS: Collection<KeyDocument> = {
  name: "keys",
  fields: [
    "username",
    "number",
    "id",
    "name",
    "prefix",
    "last4",
    "createdAt",
    "expiresAt",
    "revokedAt",
    "isRevoked",
    "hash",
  ],
  keyOf: ({ username, id }) => [username, id],
  indexes: {
    hash: ({ hash }) => [hash],
    order: ({ username, number }) => [username, number],
  },
};

export const CONSENTS: Collection<Consent> = {
  name: "consents",
  fields: ["username", "id", "purpose", "grantedAt", "expiresAt", "ended"],
  keyOf: ({ username, id }) => [username, id],
  indexes: {
    /** Consents that are not ended, expired ones too, by owner and expiry. `WITHOUT_EXPIRY` comes after every time. */
    open: ({ username, expiresAt, ended }) =>
      ended === null ? [username, expiresAt ?? WITHOUT_EXPIRY] : null,
  },
};

const WITHOUT_EXPIRY = "~";

/** The link from a person and their account to their audit records; erased with the person. */
export interface SubjectDocument {
  readonly username: string;
  /** Stands for the account in the audit. */
  readonly id: string;
  /** The key of the HMAC that stands for the person: 64 hexadecimal digits. */
  readonly key: string;
}

export const SUBJECTS: Collection<SubjectDocument> = {
  name: "subjects",
  fields: ["username", "id", "key"],
  keyOf: ({ username }) => [username],
  indexes: { id: ({ id }) => [id] },
};

export interface ErasedNameDocument extends ErasedName {
  readonly hmac: string;
}

export const ERASED_NAMES: Collection<ErasedNameDocument> = {
  name: "erased_names",
  fields: ["hmac", "at", "isTaken", "month"],
  keyOf: ({ hmac }) => [hmac],
};

export const ACCOUNT_COLLECTIONS: readonly AnyCollection[] = [
  ACCOUNTS,
  CLAIMS,
  SESSIONS,
  SIGN_INS,
  SECRETS,
  KEYS,
  CONSENTS,
  SUBJECTS,
  ERASED_NAMES,
];

export async function findAccount(at: Reader, username: string): Promise<AccountDocument | null> {
  const [[found = null]] = await at.read({ from: ACCOUNTS, keys: keysOf(username) });
  return found;
}

export function accountOf({ hidesProfile: _, ...account }: AccountDocument): Account {
  return account;
}

/** All keys or consents of an account, in their order, with the changed ones in place of their former selves. */
export function replaced<T extends { readonly id: unknown }>(
  all: readonly T[],
  changed: readonly T[],
): readonly T[] {
  const byId = new Map(changed.map((one) => [one.id, one]));
  return all.map((one) => byId.get(one.id) ?? one);
}
