import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { API_KEY_TABLES, SqliteApiKeyStore } from "./accounts/api-key-store.ts";
import { CALL_TABLES } from "./accounts/call-counter.ts";
import { CONSENT_TABLES, SqliteConsentStore } from "./accounts/consent-store.ts";
import { SqliteMembership } from "./accounts/membership.ts";
import { PersonRows } from "./accounts/person-rows.ts";
import { SqliteProfileStore } from "./accounts/profile-store.ts";
import { SUBJECT_TABLES, Subjects } from "./accounts/subjects.ts";
import { SqliteUsageStore } from "./accounts/usage-store.ts";
import { AuditChainWriter } from "./audit/audit-chain-writer.ts";
import { SqliteAuditLog } from "./audit/audit-log.ts";
import { AUDIT_TABLES } from "./audit/audit-tables.ts";
import { INDEX_SEGMENT_TABLES } from "./audit/index-segments.ts";
import type { SqliteDatabase } from "./driver/database.ts";
import { SqliteLookupProcessor } from "./lookups/lookup-processor.ts";
import { PersonReader } from "./lookups/person-reader.ts";
import { prepareVersions } from "./lookups/person-versions.ts";

const REPUTATION_TABLES = [
  ...SUBJECT_TABLES,
  ...API_KEY_TABLES,
  ...CONSENT_TABLES,
  ...CALL_TABLES,
  ...AUDIT_TABLES,
  ...INDEX_SEGMENT_TABLES,
];

/** Makes the tables of the reputation half, and its stores on them. Throws `store_unavailable` or `commit_failed`. */
export async function openSqliteReputation(
  database: SqliteDatabase,
  tables: PreparedTables,
  options: ReputationOptions,
): Promise<ReputationStores> {
  const profiles = new PersonRows(database, tables.get("profiles"));
  const platformAccounts = new PersonRows(database, tables.get("platform_accounts"));
  await database.write(() => {
    for (const sql of REPUTATION_TABLES) database.run(sql);
    prepareVersions(database, [
      profiles.tableName,
      platformAccounts.tableName,
      "repsync_consents",
      "repsync_subjects",
    ]);
  }, []);
  const { mac, auditKey, makeCache } = options;
  const subjects = new Subjects(database, mac, auditKey);
  const chain = new AuditChainWriter(database, mac, auditKey);
  const people = new PersonReader(database, { profiles, platformAccounts, subjects, makeCache });
  return {
    apiKeys: new SqliteApiKeyStore(database),
    consents: new SqliteConsentStore(database),
    profiles: new SqliteProfileStore(database, profiles, platformAccounts),
    membership: new SqliteMembership(database, profiles, platformAccounts),
    usage: new SqliteUsageStore(database, subjects),
    audit: new SqliteAuditLog(database, subjects),
    lookupProcessor: new SqliteLookupProcessor(database, { people, subjects, chain }),
  };
}
