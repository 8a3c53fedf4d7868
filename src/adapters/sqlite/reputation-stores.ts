import type { LookupSubject } from "../../domain/reputation/lookups/lookup.ts";
import type { LimitedCaller } from "../../domain/reputation/lookups/lookup-batch.ts";
import { MAX_REMEMBERED_LOOKUPS } from "../../domain/shared/limits.ts";
import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { SqliteApiKeyStore } from "./accounts/api-key-store.ts";
import { SqliteConsentStore } from "./accounts/consent-store.ts";
import { SqliteMembership } from "./accounts/membership.ts";
import { PersonRows } from "./accounts/person-rows.ts";
import { SqliteProfileStore } from "./accounts/profile-store.ts";
import { Subjects } from "./accounts/subjects.ts";
import { SqliteUsageStore } from "./accounts/usage-store.ts";
import { AuditChainWriter } from "./audit/audit-chain-writer.ts";
import { SqliteAuditLog } from "./audit/audit-log.ts";
import type { SqliteDatabase } from "./driver/database.ts";
import { SqliteLookupLedger } from "./lookups/lookup-ledger.ts";
import { prepareReputation } from "./lookups/reputation-schema.ts";

/** Makes the tables of the reputation half, and its stores on them. Throws `store_unavailable` or `commit_failed`. */
export async function openSqliteReputation(
  database: SqliteDatabase,
  tables: PreparedTables,
  options: ReputationOptions,
): Promise<ReputationStores> {
  const profiles = new PersonRows(database, tables.get("profiles"));
  const platformAccounts = new PersonRows(database, tables.get("platform_accounts"));
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
    lookupProcessor: new SqliteLookupLedger(database, {
      ...rows,
      subjects,
      chain,
      callerCache: options.makeCache<LimitedCaller>(MAX_REMEMBERED_LOOKUPS),
      subjectCache: options.makeCache<LookupSubject>(MAX_REMEMBERED_LOOKUPS),
    }),
  };
}
