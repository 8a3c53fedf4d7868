import type { LookupSubject } from "../../domain/reputation/lookup.ts";
import type { LimitedCaller } from "../../domain/reputation/lookup-batch.ts";
import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import { SqliteApiKeyStore } from "./api-key-store.ts";
import { AuditChainWriter } from "./audit-chain-writer.ts";
import { SqliteAuditLog } from "./audit-log.ts";
import { SqliteConsentStore } from "./consent-store.ts";
import type { SqliteDatabase } from "./database.ts";
import { SqliteLookupLedger } from "./lookup-ledger.ts";
import { SqliteMembership } from "./membership.ts";
import { PersonRows } from "./person-rows.ts";
import { SqliteProfileStore } from "./profile-store.ts";
import { prepareReputation } from "./reputation-schema.ts";
import { Subjects } from "./subjects.ts";
import { SqliteUsageStore } from "./usage-store.ts";

/** Makes the tables of the reputation half, and its stores on them. Throws `store_unavailable` or `commit_failed`. */
export async function openSqliteReputation(
  database: SqliteDatabase,
  options: ReputationOptions,
): Promise<ReputationStores> {
  const profiles = new PersonRows(database, options.profiles);
  const platformAccounts = new PersonRows(database, options.platformAccounts);
  const people = {
    profiles: profiles.tableName,
    platformAccounts: platformAccounts.tableName,
  };
  await database.write(() => prepareReputation(database, people), []);
  const subjects = new Subjects(database, options);
  const chain = new AuditChainWriter(database, options);
  const rows = { profiles, platformAccounts };
  return {
    apiKeys: new SqliteApiKeyStore(database),
    consents: new SqliteConsentStore(database),
    profiles: new SqliteProfileStore(database, rows),
    membership: new SqliteMembership(database, { ...rows, subjects }),
    usage: new SqliteUsageStore(database, subjects),
    audit: new SqliteAuditLog(database, subjects),
    ledger: new SqliteLookupLedger(database, {
      ...rows,
      subjects,
      chain,
      callerCache: options.makeCache<LimitedCaller>(),
      subjectCache: options.makeCache<LookupSubject>(),
    }),
  };
}
