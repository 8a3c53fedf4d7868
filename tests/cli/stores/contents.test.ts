// What copies take along, beside all that a store of a deployment in use really holds.
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { MongoClient } from "mongodb";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { storeAt } from "../../../src/app/stores.ts";
import { isPostgres, postgresLines } from "../../http/stores/support/raw-store.ts";
import { onEveryBackend } from "../../http/support/backends.ts";
import { MemoryLogger } from "../../support/memory-logger.ts";
import { useDeployment } from "./support/used-deployment.ts";

setDefaultTimeout(180_000);

/** Of the processes that use the store, or told in another way: definitions, places and times of deletes, numbers, the id. */
const NOT_AS_THEY_ARE = [
  ...["repsync_store", "repsync_tables", "repsync_versions"],
  ...["repsync_deletes", "repsync_deleted_versions", "repsync_replaced_versions"],
  ...["repsync_moment"],
  ...["repsync_counters", "repsync_tombstones", "repsync_delete_recorder"],
  ...["repsync_delete_barriers", "repsync_own_deletes", "repsync_holders"],
  ...["repsync_time"],
  ...["repsync_leases", "repsync_turns"],
];

/** Of PostgreSQL: what belongs to tables and collections begins with a line. */
function nameInPostgres(name: string): string {
  const [schema, own = ""] = name.split(".");
  if (schema === "public") return own;
  return own.startsWith("_") ? "repsync_versions" : `repsync_${own}`;
}

type Counts = Readonly<Record<string, number>>;

/** How many rows or documents every table or collection has, whoever made it. */
async function storedCounts(url: string): Promise<Counts> {
  if (isPostgres(url)) {
    const lines = Object.entries(await postgresLines(url));
    return Object.fromEntries(lines.map(([name, { length }]) => [nameInPostgres(name), length]));
  }
  if (!url.startsWith("sqlite:")) {
    const client = new MongoClient(url);
    try {
      const found = await client.db().listCollections({ type: "collection" }).toArray();
      const counted = found
        .filter(({ name }) => !name.startsWith("system."))
        .map(async ({ name }) => [name, await client.db().collection(name).countDocuments()]);
      return Object.fromEntries(await Promise.all(counted));
    } finally {
      await client.close();
    }
  }
  const file = new Database(url.slice("sqlite:".length), { readonly: true });
  try {
    const tables =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'";
    const names = file.query<{ name: string }, []>(tables).all();
    const counted = names.map(({ name }) => {
      const [row] = file.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name}"`).all();
      return [name, row?.n ?? 0];
    });
    return Object.fromEntries(counted);
  } finally {
    file.close();
  }
}

/** How many of each a dump has, under the same names, and its tombstones. */
async function dumpedCounts(url: string) {
  const source = await storeAt(url).openStopped({
    clock: new SystemClock(),
    logger: new MemoryLogger(),
  });
  try {
    const { parts } = await source.dump();
    const counts: Record<string, number> = {};
    for await (const { of, name, items } of parts) {
      const label = { documents: `repsync_${name}`, rows: name, tombstones: `deleted ${name}` }[of];
      counts[label] = (counts[label] ?? 0) + items.length;
    }
    return counts;
  } finally {
    await source.close();
  }
}

onEveryBackend("what copies take along", (backend) => {
  test("D-10.7 is everything that the store holds, item by item, or has its reason not to be", async () => {
    const url = await backend.makeUrl();
    const { app } = await useDeployment(url);
    await app.stop();
    const stored = Object.entries(await storedCounts(url));
    const kept = stored.filter(([name, count]) => count > 0 && !NOT_AS_THEY_ARE.includes(name));
    const { "deleted versions": deleted, ...dumped } = await dumpedCounts(url);
    expect(dumped).toEqual(Object.fromEntries(kept));
    expect(deleted).toBe(1);
  });
});
