// A newly elected primary may for a moment miss writes that the former one had acknowledged: until its own first write it
// does not know what a majority holds. Reads wait for that, once per primary.
import type { Db, MongoClient, TopologyDescription } from "mongodb";

/** Longest wait for a majority to confirm a primary; after that the caller tries again. */
const CONFIRM_MAX_MS = 5_000;

/** Confirms each new primary of a replica set. Sharded clusters do not show their primaries, so none is confirmed. */
export class PrimaryWatch {
  readonly #db: Db;
  #primary: string | null = null;
  #confirmedPrimary: string | null = null;

  constructor(client: MongoClient, db: Db) {
    this.#db = db;
    client.on("topologyDescriptionChanged", ({ newDescription }) => {
      this.#primary = primaryOf(newDescription) ?? this.#primary;
    });
  }

  /** Runs a read that sees every write acknowledged before the call, again when the primary has changed meanwhile. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const primary = await this.confirm();
      const result = await work();
      if (this.#primary === primary) return result;
    }
  }

  /** Resolves to the present primary, once reads from it see every write acknowledged before the call. */
  async confirm(): Promise<string | null> {
    const primary = this.#primary;
    if (primary === this.#confirmedPrimary) return primary;
    // A linearizable read is answered only when a majority holds a write of this primary.
    await this.#db.command({
      find: "repsync_tables",
      limit: 1,
      singleBatch: true,
      readConcern: { level: "linearizable" },
      maxTimeMS: CONFIRM_MAX_MS,
    });
    this.#confirmedPrimary = primary;
    return primary;
  }
}

/** The address and election of a replica set's primary. */
function primaryOf({ servers }: TopologyDescription): string | null {
  for (const server of servers.values()) {
    if (server.type === "RSPrimary") {
      return `${server.address} ${server.electionId?.toHexString() ?? ""}`;
    }
  }
  return null;
}
