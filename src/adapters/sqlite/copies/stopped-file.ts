import { resolve } from "node:path";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import type { OpenSqlite } from "../driver/driver.ts";
import { holdAlone } from "./claim-empty-file.ts";
import { FileDump } from "./file-dump.ts";

/** Takes a prepared file for this process alone. Throws `invalid_request` when another one has it open. */
export async function openStoppedFile(
  openSqlite: OpenSqlite,
  path: string,
  collections: readonly AnyCollection[],
): Promise<StoppedStore> {
  const connection = await openSqlite(resolve(path));
  try {
    holdAlone(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  const source = new FileDump(connection, collections);
  return {
    dump: (options) => source.dump(options),
    // Nobody else can open it before `close`.
    requireStopped: async () => {},
    close: async () => connection.close(),
  };
}
