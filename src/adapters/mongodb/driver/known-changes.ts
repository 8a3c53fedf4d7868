// Changes of what lookups remember.
import type { ClientSession } from "mongodb";
import { type StoreParts, writeTogether } from "./operations.ts";
import type { TableVersions } from "./table-versions.ts";

/** A change of a table, within a transaction. */
export interface RowChange {
  readonly session: ClientSession;
  /** Slot of the table's version that no other change of this instance uses. */
  readonly slot: number;
}

/** What stores work with whose changes lookups have to see. */
export interface VersionedParts extends StoreParts {
  readonly versions: TableVersions;
}

/** A change on its way. */
export interface KnownChange extends RowChange {
  /** How often it has failed before. */
  readonly tries: number;
  /** Lets lookups read anew from the commit on; rows of people raise the version of their table instead. */
  readonly raise: () => Promise<void>;
}

/** As `writeTogether()`, with what a body that changes anything tells lookups by. */
export async function changeKnown<T>(
  parts: VersionedParts,
  body: (change: KnownChange) => Promise<T>,
): Promise<T> {
  const { versions } = parts;
  return await versions.withSlot((slot) =>
    writeTogether(parts, (session, tries) => {
      const raise = () => versions.raisePeople({ slot, session });
      return body({ session, slot, tries, raise });
    }),
  );
}
