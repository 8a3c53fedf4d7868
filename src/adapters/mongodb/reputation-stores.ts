import type { ReputationOptions, ReputationStores } from "../../ports/reputation-stores.ts";
import type { PreparedTables } from "../../ports/tables/table-store.ts";
import { API_KEYS, MongoApiKeyStore } from "./accounts/api-key-store.ts";
import { CONSENTS, MongoConsentStore } from "./accounts/consent-store.ts";
import { MongoMembership } from "./accounts/membership.ts";
import { PersonRows } from "./accounts/person-rows.ts";
import { MongoProfileStore } from "./accounts/profile-store.ts";
import { SUBJECTS, Subjects } from "./accounts/subjects.ts";
import { MongoUsageStore } from "./accounts/usage-store.ts";
import {
  AUDIT_CHAIN_COUNT,
  AUDIT_CHECKPOINTS,
  AuditChainWriter,
} from "./audit/audit-chain-writer.ts";
import { MongoAuditLog } from "./audit/audit-log.ts";
import { INDEX_SEGMENTS, SegmentWriter } from "./audit/index-segments.ts";
import { makeCollections } from "./driver/collections.ts";
import { Deadline, retry } from "./driver/deadline.ts";
import { toAppError } from "./driver/errors.ts";
import { LOOKUP_LOG } from "./driver/lookup-log.ts";
import type { StoreDeps } from "./driver/operations.ts";
import type { VersionedDeps } from "./driver/person-changes.ts";
import { prepareTime, TIME } from "./driver/server-clock.ts";
import { LookupCache } from "./lookups/lookup-cache.ts";
import { MongoLookupProcessor } from "./lookups/lookup-processor.ts";
import { LookupReader } from "./lookups/lookup-reader.ts";

const REPUTATION_COLLECTIONS = [
  TIME,
  SUBJECTS,
  API_KEYS,
  CONSENTS,
  LOOKUP_LOG,
  INDEX_SEGMENTS,
  AUDIT_CHECKPOINTS,
  AUDIT_CHAIN_COUNT,
];

/** Makes the collections of the reputation half, and its stores on them. Throws `store_unavailable`. */
export async function openMongoReputation(
  deps: VersionedDeps,
  tables: PreparedTables,
  options: ReputationOptions,
): Promise<ReputationStores> {
  const profiles = new PersonRows(deps, tables.get("profiles"));
  const platformAccounts = new PersonRows(deps, tables.get("platform_accounts"));
  await prepare(deps, [profiles, platformAccounts]);
  const subjects = new Subjects(deps.db, options.mac, options.auditKey);
  const people = { ...deps, profiles, platformAccounts, subjects };
  const chainWriter = new AuditChainWriter(deps.db, options.mac, options.auditKey);
  const segments = new SegmentWriter(deps.db);
  const cache = new LookupCache(options.makeCache);
  const reader = new LookupReader({ ...people, cache });
  return {
    apiKeys: new MongoApiKeyStore(deps),
    consents: new MongoConsentStore(deps),
    profiles: new MongoProfileStore(people),
    membership: new MongoMembership(people),
    usage: new MongoUsageStore(deps),
    audit: new MongoAuditLog(people),
    lookupProcessor: new MongoLookupProcessor({
      ...people,
      mac: options.mac,
      reader,
      cache,
      chainWriter,
      segments,
    }),
  };
}

async function prepare({ db, clock }: StoreDeps, rows: readonly PersonRows[]): Promise<void> {
  const indexes = rows.map(({ index }) => index).filter((index) => index !== null);
  try {
    // After an election it starts again, so every step may be done twice.
    await retry(Deadline.start(clock), async () => {
      await makeCollections(db, [...REPUTATION_COLLECTIONS, ...indexes]);
      await prepareTime(db);
    });
  } catch (error) {
    throw toAppError(error);
  }
}
