// What a database holds beside the registry's tables, and what of it a copy takes along. D-10.7.

import { API_KEYS } from "../accounts/api-key-store.ts";
import { CONSENTS } from "../accounts/consent-store.ts";
import { QUOTA_MARKS } from "../accounts/quota-marks.ts";
import { SUBJECTS } from "../accounts/subjects.ts";
import { AUDIT_CHAIN_COUNT, AUDIT_CHECKPOINTS } from "../audit/audit-chain-writer.ts";
import { INDEX_SEGMENTS } from "../audit/index-segments.ts";
import { DELETE_BARRIERS, DELETE_RECORDER } from "../deletes/recorder-state.ts";
import { HOLDERS } from "../driver/holders.ts";
import { COUNTERS } from "../driver/id-counters.ts";
import { LOOKUP_LOG } from "../driver/lookup-log.ts";
import { OWN_DELETES } from "../driver/own-deletes.ts";
import { PERSON_VERSIONS } from "../driver/person-versions.ts";
import { TIME } from "../driver/server-clock.ts";
import { STORE_FACTS } from "../driver/store-facts.ts";
import { TABLE_VERSIONS } from "../driver/table-versions.ts";
import { TOMBSTONES } from "../driver/tombstone-documents.ts";
import { ERASED_NAMES } from "../people/erased-names.ts";
import { ACCOUNTS } from "../people/name-facts.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";

/** Copied as they are, beside the collections of documents. */
export const KEPT: readonly string[] = [
  STORE_FACTS,
  ...[TABLE_DEFINITIONS, PERSON_VERSIONS, COUNTERS],
  ...[TOMBSTONES, DELETE_RECORDER, ACCOUNTS, ERASED_NAMES],
  ...[QUOTA_MARKS, SUBJECTS, API_KEYS, CONSENTS, LOOKUP_LOG, INDEX_SEGMENTS],
  ...[AUDIT_CHECKPOINTS, AUDIT_CHAIN_COUNT],
].map((collection) => (typeof collection === "string" ? collection : collection.name));

/** They belong to the processes that use the database, or to its cluster. */
export const LEFT_OUT: readonly string[] = [
  HOLDERS,
  TABLE_VERSIONS,
  DELETE_BARRIERS,
  OWN_DELETES,
  TIME,
].map(({ name }) => name);

/** True for what is the service's own or MongoDB's. */
export function isOwnName(name: string): boolean {
  return name.startsWith("repsync_") || name.startsWith("system.");
}
