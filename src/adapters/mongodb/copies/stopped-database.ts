import { storeHeld } from "../../../domain/shared/store-format.ts";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import { connect } from "../driver/connection.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import { HOLD_SECONDS, isHeld } from "../driver/holders.ts";
import { DatabaseDump } from "./database-dump.ts";

interface Address {
  readonly url: string;
  readonly clock: Stopwatch;
  readonly logger: Logger;
  readonly collections: readonly AnyCollection[];
}

/** Opens a prepared database, to read all of it. */
export async function openStoppedDatabase(address: Address): Promise<StoppedStore> {
  const { url, collections, ...deps } = address;
  const { client, db } = await connect(url, deps, async () => {});
  const source = new DatabaseDump({ client, db }, collections);
  return {
    dump: (options) => source.dump({ ...options, isStill: true }),
    async requireStopped() {
      if (await isHeld(db)) throw storeHeld("A running service", HOLD_SECONDS);
    },
    close: () => client.close(),
  };
}
