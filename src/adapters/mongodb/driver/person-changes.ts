import { type StoreDeps, writeTogether } from "./operations.ts";
import { raisePersonVersions, type VersionedChange } from "./person-versions.ts";
import type { TableVersions } from "./table-versions.ts";

/** The dependencies of stores whose changes lookups have to see. */
export interface VersionedDeps extends StoreDeps {
  readonly versions: TableVersions;
}

/** A change of one person's data, within a transaction. */
export interface PersonChange extends VersionedChange {
  /** Raises the version of the person, and of these other names. A body that changes anything must call it. */
  raise(...others: readonly string[]): Promise<void>;
}

/** As `writeTogether()`, for a change that lookups of a person, or by their keys, have to see. */
export async function changePerson<T>(
  deps: VersionedDeps,
  username: string,
  body: (change: PersonChange) => Promise<T>,
): Promise<T> {
  return await deps.versions.withLane((lane) =>
    writeTogether(deps, (tx) =>
      body({
        tx,
        lane,
        raise: (...others) => raisePersonVersions(deps.db, [username, ...others], { tx, lane }),
      }),
    ),
  );
}
