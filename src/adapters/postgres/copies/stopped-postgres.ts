import { AppError } from "../../../domain/shared/errors.ts";
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
      if (!(await database.read({ name: "store.held" }, isHeld))) return;
      const text = `A running service holds the store, or did within the last ${HOLD_SECONDS} s`;
      throw new AppError("invalid_request", text, { hint: "Stop it first" });
    },
    close: () => database.close(),
  };
}
