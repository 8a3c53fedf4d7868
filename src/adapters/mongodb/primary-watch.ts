// A primary that was just elected may for a moment show a state from before writes that the former one had
// acknowledged: it learns what a majority holds only by its own first write. Reads wait for that, once per primary.
import type { Db, MongoClient, TopologyDescription } from "mongodb";

/** Longest wait for a new primary's first write to reach a majority; then the caller tries again. */
const CONFIRM_MAX_MS = 5_000;

/** Knows whether the primary of a replica set has changed. Sharded clusters do not show theirs: nothing to wait for. */
export class PrimaryWatch {
  readonly #db: Db;
  #primary = "";
  #confirmedPrimary = "";

  constructor(client: MongoClient, db: Db) {
    this.#db = db;
    client.on("topologyDescriptionChanged", ({ newDescription }) => {
      this.#primary = primaryOf(newDescription) ?? this.#primary;
    });
  }

  /** Resolves when a read from the present primary shows every acknowledged write. */
  async confirm(): Promise<void> {
    const primary = this.#primary;
    if (primary === this.#confirmedPrimary) return;
    await this.#db.command({
      find: "repsync_tables",
      limit: 1,
      singleBatch: true,
      readConcern: { level: "linearizable" },
      maxTimeMS: CONFIRM_MAX_MS,
    });
    this.#confirmedPrimary = primary;
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
