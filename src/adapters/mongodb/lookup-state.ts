// The state of a store as far as lookups remember anything of it: the versions of repsync's own changes, the servers' counts
// of everybody's writes, and the primary that tells them. docs/decisions/0044
import type { Document } from "mongodb";
import { CONSENTS } from "./consent-store.ts";
import type { StoreParts } from "./store-calls.ts";
import { TIME, timedOf, timedStages } from "./store-time.ts";
import { readActivity, readActivityWith } from "./table-activity.ts";
import { TableVersions } from "./table-versions.ts";

/** What `versionStage` joins. */
export interface JoinedVersion {
  readonly version: readonly { readonly sum: string }[];
}

/** A state by itself. */
export interface TimedState {
  readonly state: string;
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
    try {
      const primary = await this.#parts.primaryWatch.confirm();
      if (primary === null) return null;
      return `${primary} ${await readActivity(this.#parts.db, this.#watched)}`;
    } catch {
      // It only saves work. What is wrong with the server shows in the transaction.
      return null;
    }
  }

  /** State and time in one message outside of any transaction; null when they are not to be had. */
  async read(): Promise<TimedState | null> {
    const { db, primaryWatch, storeClock } = this.#parts;
    try {
      const primary = await primaryWatch.confirm();
      if (primary === null) return null;
      const pipeline = timedStages(storeClock, [this.versionStage]);
      const time = { $unionWith: { coll: TIME.name, pipeline } };
      const { activity, added } = await readActivityWith(db, this.#watched, [time]);
      const { nowMs, ...joined } = timedOf<JoinedVersion>(added);
      const state = this.textOf(joined, `${primary} ${activity}`);
      return state === null ? null : { state, nowMs, primary };
    } catch {
      return null;
    }
  }
}
