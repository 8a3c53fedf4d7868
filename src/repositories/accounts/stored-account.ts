// Accounts as other repositories find them within their bodies.
import type { Account } from "../../domain/reputation/accounts/account.ts";
import { isKey, type Key } from "../../domain/shared/document-key.ts";
import type { Reader } from "../../ports/documents.ts";
import { ACCOUNTS, type AccountDocument } from "./account-collections.ts";

/** Null when there is none. */
export async function findAccount(at: Reader, username: string): Promise<AccountDocument | null> {
  const [[found = null]] = await at.read({ from: ACCOUNTS, keys: accountKeys(username) });
  return found;
}

/** None for what no account is named, as somebody may ask for anything. */
export function accountKeys(username: string): readonly Key[] {
  return isKey([username]) ? [[username]] : [];
}

export function accountOf({ hidesProfile: _, ...account }: AccountDocument): Account {
  return account;
}
