// Who keys belong to, as part of what a batch of lookups reads.
import type { Document } from "mongodb";
import type { LimitedCaller } from "../../domain/reputation/lookup-batch.ts";
import { effectiveLimits } from "../../domain/reputation/plan.ts";
import { ACCOUNTS, type AccountDocument } from "./account-store.ts";
import { joinUsage, type UsageDocument, usageId } from "./account-usage.ts";
import { API_KEYS, type ApiKeyDocument } from "./api-key-store.ts";
import { LEDGER } from "./ledger-documents.ts";
import { SUBJECTS, type SubjectDocument } from "./subjects.ts";

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
