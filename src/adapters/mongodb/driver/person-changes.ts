import { type StoreDeps, writeTogether } from "./operations.ts";
import { raisePersonVersions, type VersionedChange } from "./person-versions.ts";
import type { TableVersions } from "./table-versions.ts";

export interface VersionedDeps extends StoreDeps {
  readonly versions: TableVersions;
}

/** A change of one person's data, within a transaction. */
interface PersonChange extends VersionedChange {
  /** Raises the version of the person, and of these other names. A body that changes anything must call it. */
  raise(...others: readonly string[]): Promise<void>;
}

/** `writeTogether()` that also raises the person's version, so the next lookup sees the change. */
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
