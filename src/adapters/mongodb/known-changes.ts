// Changes of what lookups remember.
import type { ClientSession } from "mongodb";
import { type StoreParts, writeTogether } from "./store-calls.ts";
import type { TableVersions } from "./table-versions.ts";

/** What stores work with whose changes lookups have to see. */
export interface VersionedParts extends StoreParts {
  readonly versions: TableVersions;
}

/** As `writeTogether()`, with how a body that changes anything lets lookups read anew from its commit on. */
export async function changeKnown<T>(
  parts: VersionedParts,
  body: (session: ClientSession, raise: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const { versions } = parts;
  return await versions.withSlot((slot) =>
    writeTogether(parts, (session) => body(session, () => versions.raisePeople({ slot, session }))),
  );
}
