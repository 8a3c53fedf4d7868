// The state of a store as far as lookups remember anything of it: the versions of repsync's own changes, the servers' counts
// of everybody's writes, and the primary that tells them. docs/decisions/0044
import type { Document } from "mongodb";
import { CONSENTS } from "../accounts/consent-store.ts";
import type { StoreParts } from "../driver/operations.ts";
import { TIME, timedOf, timedStages } from "../driver/server-clock.ts";
import { TableVersions } from "../driver/table-versions.ts";
import { readActivityWith } from "../tables/page-cache.ts";

/** What `versionStage` joins. */
export interface JoinedVersion {
  readonly version: readonly { readonly sum: string }[];
}

/** A state by itself. */
export interface TimedState {
  readonly state: string | null;
  readonly nowMs: number;
  /** The primary that told it, as `PrimaryWatch` has it. */
  readonly primary: string;
}

/** Reads states. */
export class LookupState {
  readonly #parts: StoreParts;
  /** Collections whose writes are counted: what other programs may change. */
  readonly #watched: readonly string[];
  /** A stage that joins the version. */
  readonly versionStage: Document;

  /** `tables` hold the rows of people. */
  constructor(parts: StoreParts, tables: readonly string[]) {
    this.#parts = parts;
    this.#watched = [...tables, CONSENTS.name];
    this.versionStage = TableVersions.joinPeople(tables);
  }

  /** The state as text, of what a transaction has joined and `activity()` has read meanwhile; null when that is null. */
  textOf({ version }: JoinedVersion, activity: string | null): string | null {
    return activity === null ? null : `${version[0]?.sum ?? 0} ${activity}`;
  }

  /** Null when it is not to be had, as on a sharded cluster, which does not show its primaries. */
  async activity(): Promise<string | null> {
    return (await this.#readWith([]))?.activity ?? null;
  }

  /** State and time in one message outside of any transaction; null when they are not to be had. */
  async read(): Promise<TimedState | null> {
    const pipeline = timedStages(this.#parts.storeClock, [this.versionStage]);
    const found = await this.#readWith([{ $unionWith: { coll: TIME.name, pipeline } }]);
    if (found === null) return null;
    const { nowMs, ...joined } = timedOf<JoinedVersion>(found.added);
    return { state: this.textOf(joined, found.activity), nowMs, primary: found.primary };
  }

  async #readWith(stages: readonly Document[]) {
    const { db, primaryWatch } = this.#parts;
    try {
      const primary = await primaryWatch.confirm();
      if (primary === null) return null;
      const { activity, added } = await readActivityWith(db, this.#watched, stages);
      return { primary, activity: `${primary} ${activity}`, added };
    } catch {
      // It only saves work. What is wrong with the server shows in the transaction.
      return null;
    }
  }
}
