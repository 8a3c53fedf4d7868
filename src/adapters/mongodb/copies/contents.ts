// What a database holds beside the registry's tables, and what of it a copy takes along. D-10.7.

import { DELETE_BARRIERS, DELETE_RECORDER } from "../deletes/recorder-state.ts";
import { HOLDERS } from "../driver/holders.ts";
import { COUNTERS } from "../driver/id-counters.ts";
import { OWN_DELETES } from "../driver/own-deletes.ts";
import { PERSON_VERSIONS } from "../driver/person-versions.ts";
import { TIME } from "../driver/server-clock.ts";
import { STORE_FACTS } from "../driver/store-facts.ts";
import { TABLE_VERSIONS } from "../driver/table-versions.ts";
import { TOMBSTONES } from "../driver/tombstone-documents.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";

/** Copied as they are, beside the collections of documents. */
export const KEPT: readonly string[] = [
  STORE_FACTS,
  ...[TABLE_DEFINITIONS, PERSON_VERSIONS, COUNTERS, TOMBSTONES, DELETE_RECORDER],
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
