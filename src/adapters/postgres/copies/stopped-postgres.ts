import { storeHeld } from "../../../domain/shared/store-format.ts";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import { HOLD_SECONDS, isHeld } from "../driver/holders.ts";
import { type OpenOptions, openDatabase } from "../driver/open-database.ts";
import { DatabaseDump } from "./database-dump.ts";

/** Opens a prepared database, to read all of it. */
export async function openStoppedPostgres(
  options: OpenOptions & { readonly collections: readonly AnyCollection[] },
): Promise<StoppedStore> {
  const { database, schema } = await openDatabase(options);
  const source = new DatabaseDump(database, schema, options.collections);
  return {
    dump: (dumping) => source.dump(dumping),
    async requireStopped() {
      const isInUse = await database.read({ name: "store.held" }, isHeld);
      if (isInUse) throw storeHeld("A running service", HOLD_SECONDS);
    },
    close: () => database.close(),
  };
}
