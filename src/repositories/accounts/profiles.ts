import { changedProfile, type ProfileChanges } from "../../domain/reputation/score/profile.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import { type InputProblem, refuse } from "../../domain/shared/errors.ts";
import type { JsonObject } from "../../domain/shared/json.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { DocumentStore, Reader } from "../../ports/documents.ts";
import { ACCOUNTS, type AccountDocument } from "../account-collections.ts";
import type { PeopleTables } from "../lookups/lookup-reader.ts";
import { Repository } from "../repository.ts";

/** Profiles as their owners see and change them. A change may also throw `commit_failed`. */
export class Profiles extends Repository {
  readonly #tables: PeopleTables;

  constructor(documents: DocumentStore, tables: PeopleTables) {
    super(documents);
    this.#tables = tables;
  }

  /** The profile, null for none, and the platform accounts, all of one moment. */
  async read(username: string) {
    const { profiles, platformAccounts } = this.#tables;
    const where = ["username", [username]] as const;
    const [[profile = null], accounts] = await this.ask(
      "profiles.read",
      { rowsOf: profiles, where },
      { rowsOf: platformAccounts, where },
    );
    return { profile, accounts };
  }

  /**
   * Changes the given fields of the profile and sets `updated_at`; without any field nothing is written. Resolves to the new row;
   * null when there is no profile. Throws `invalid_request` for a field that the registry's own table of profiles lacks, or that
   * its rules refuse.
   */
  async change(
    username: string,
    changes: ProfileChanges,
    nowMs: number,
  ): Promise<JsonObject | null> {
    const { profiles } = this.#tables;
    return await this.writing("profiles.change", async (tx) => {
      const profile = await this.#profileOf(tx, username);
      if (profile === null) return null;
      const columns = changedProfile(profile, changes, nowMs);
      if (Object.keys(columns).length === 0) return profile;
      refuse(missing(profiles, columns));
      if (changes.public !== undefined) {
        const [[account]] = await tx.read({ from: ACCOUNTS, keys: keysOf(username) });
        if (account !== undefined) tx.put(ACCOUNTS, withHidden(account, !changes.public));
      }
      await tx.tables.change(profiles, "username", username, columns);
      tx.raise([username]);
      return await this.#profileOf(tx, username);
    });
  }

  async #profileOf(at: Reader, username: string): Promise<JsonObject | null> {
    const where = ["username", [username]] as const;
    const [[profile = null]] = await at.read({ rowsOf: this.#tables.profiles, where });
    return profile;
  }
}

/** Fields without a column; `updated_at` may have none. */
function missing({ columns }: Table, values: JsonObject): InputProblem[] {
  const known = new Set(["updated_at", ...columns.map(({ name }) => name)]);
  return Object.keys(values)
    .filter((name) => !known.has(name))
    .map((name) => ({ pointer: `/${name}`, detail: "Profiles have no such field here" }));
}

function withHidden({ hidesProfile: _, ...account }: AccountDocument, hides: boolean) {
  return hides ? { ...account, hidesProfile: true as const } : account;
}
