// A new primary may miss writes that the former one acknowledged, until a majority holds a write of its own. Reads wait for that once
// per primary.
import type { Db, MongoClient, TopologyDescription } from "mongodb";

/** Longest wait for a confirmation; then the caller tries again. */
const CONFIRM_MAX_MS = 5_000;

/** Confirms new primaries of a replica set. Sharded clusters do not show theirs. */
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

  /** Runs a read that sees every write acknowledged before; again when the primary has changed meanwhile. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const primary = await this.confirm();
      const result = await work();
      if (this.#primary === primary) return result;
    }
  }

  /** Resolves to the primary once reads from it see every write acknowledged before. */
  async confirm(): Promise<string | null> {
    const primary = this.#primary;
    if (primary === this.#confirmedPrimary) return primary;
    // Only a primary that a majority follows answers a linearizable read.
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

function primaryOf({ servers }: TopologyDescription): string | null {
  for (const server of servers.values()) {
    if (server.type === "RSPrimary") {
      return `${server.address} ${server.electionId?.toHexString() ?? ""}`;
    }
  }
  return null;
}
