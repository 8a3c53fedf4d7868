// Who keys belong to, as part of what a batch of lookups reads.
import type { Document } from "mongodb";
import { effectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { LimitedCaller } from "../../../domain/reputation/lookups/lookup-batch.ts";
import { ACCOUNTS, type AccountDocument } from "../accounts/account-store.ts";
import { joinUsage, type UsageDocument, usageId } from "../accounts/account-usage.ts";
import { API_KEYS, type ApiKeyDocument } from "../accounts/api-key-store.ts";
import { SUBJECTS, type SubjectDocument } from "../accounts/subjects.ts";
import { LEDGER } from "../driver/ledger-documents.ts";

/** A key and what belongs to it, one of each or none. */
export interface CallerDocument extends ApiKeyDocument {
  readonly account: readonly AccountDocument[];
  readonly subject: readonly SubjectDocument[];
  readonly usage: readonly UsageDocument[];
}

/** Joins keys with what belongs to them, as the field `callers`. */
export function joinCallers(hashes: readonly string[]): Document {
  const ofKey = (from: string, as: string) => ({
    $lookup: { from, localField: "username", foreignField: "_id", as },
  });
  const pipeline = [
    { $match: { hash: { $in: hashes } } },
    ofKey(ACCOUNTS.name, "account"),
    ofKey(SUBJECTS.name, "subject"),
    ...joinUsage(),
  ];
  return { $lookup: { from: API_KEYS.name, pipeline, as: "callers" } };
}

/** Joins what accounts have used, as the field `usages`. */
export function joinUsages(accountIds: readonly string[]): Document {
  const pipeline = [{ $match: { _id: { $in: accountIds.map(usageId) } } }];
  return { $lookup: { from: LEDGER.name, pipeline, as: "usages" } };
}

/** The caller of a key whose account goes by that id. */
export function limitedCaller(
  { _id: id, expiresAt, revokedAt, isRevoked }: ApiKeyDocument,
  { account, accountId }: { readonly account: AccountDocument; readonly accountId: string },
): LimitedCaller {
  const key = { id, expiresAt, revokedAt, isRevoked };
  return { key, accountId, limits: effectiveLimits(account) };
}
