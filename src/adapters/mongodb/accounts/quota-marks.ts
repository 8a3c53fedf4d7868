import type { ClientSession, Collection, Db } from "mongodb";
import type { InternalCollection } from "../driver/collections.ts";

/** From the start of the month; after it a mark counts for nothing. */
const MARK_LIFE_SECONDS = 62 * 86_400;

/** Steps of quotas that were told, by account, month and step. MongoDB drops them some time after their month. */
export const QUOTA_MARKS: InternalCollection = {
  name: "repsync_quota_alerts",
  indexes: [
    { name: "repsync_account", key: { accountId: 1 } },
    { name: "repsync_at", key: { at: 1 }, expireAfterSeconds: MARK_LIFE_SECONDS },
  ],
};

export interface QuotaMark {
  /** `<account id>/<month>/<type of the alert>`. */
  readonly _id: string;
  readonly accountId: string;
  /** The start of the month. */
  readonly at: Date;
}

export function quotaMarksOf(db: Db): Collection<QuotaMark> {
  return db.collection(QUOTA_MARKS.name);
}

/** Removes what was told of an account, within a transaction. */
export async function dropQuotaMarks(db: Db, accountId: string, tx: ClientSession): Promise<void> {
  await quotaMarksOf(db).deleteMany({ accountId }, { session: tx });
}
