// Holds an empty database so that no service can begin to use it: until it is filled a mark keeps every instance out. D-10.7.
import type { Db } from "mongodb";
import { checkFormat, storeHeld, storeNotEmpty } from "../../../domain/shared/store-format.ts";
import type { StoreClaim } from "../../../ports/copies/store-copies.ts";
import { createCollection, DURABLE } from "../driver/collections.ts";
import { HOLD_SECONDS, HOLDERS, type Holder, holdToFill, isServed } from "../driver/holders.ts";
import { readFacts, removeFact, STORE_FACTS, setFact } from "../driver/store-facts.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";

/** An empty database that this process has taken. */
export class ClaimedDatabase {
  readonly #db: Db;
  readonly #holder: Holder;
  readonly #tables: readonly string[];

  private constructor(db: Db, holder: Holder, tables: readonly string[]) {
    this.#db = db;
    this.#holder = holder;
    this.#tables = tables;
  }

  /** Takes it, and empties it of what a start has made. Throws `invalid_request`. */
  static async claim(db: Db, options: StoreClaim): Promise<ClaimedDatabase> {
    if (await isServed(db)) throw held();
    // Of several processes one goes on.
    const holder = await holdToFill(db);
    if (holder === null) throw held();
    try {
      await mark(db, options);
      await empty(db, options.tables);
    } catch (error) {
      await holder.end();
      throw error;
    }
    return new ClaimedDatabase(db, holder, options.tables);
  }

  /** The database is whole. */
  async finish(): Promise<void> {
    await removeFact(this.#db, "filled_by");
    await this.#holder.end();
  }

  /** Leaves nothing of what was written. Never rejects. */
  async giveUp(): Promise<void> {
    try {
      await empty(this.#db, this.#tables);
      await this.#db.dropCollection(STORE_FACTS);
    } catch {
      // The mark stays: nobody may use what is left.
    }
    await this.#holder.end();
  }
}

async function mark(db: Db, { adminUsername, tables, by }: StoreClaim): Promise<void> {
  const facts = new Map(await readFacts(db));
  const isUnfinished = facts.delete("filled_by");
  checkFormat(facts, true);
  if (!isUnfinished) await refuseFull(db, adminUsername, tables);
  await createCollection(db, STORE_FACTS);
  // A service that starts now either finds this, or is found below.
  await setFact(db, "filled_by", by);
  if (!(await isServed(db))) return;
  if (!isUnfinished) await removeFact(db, "filled_by");
  throw held();
}

async function refuseFull(
  db: Db,
  adminUsername: string | null,
  tables: readonly string[],
): Promise<void> {
  const known = await db.collection<{ _id: string }>(TABLE_DEFINITIONS.name).find().toArray();
  for (const name of new Set([...tables, ...known.map(({ _id }) => _id)])) {
    if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) === null) continue;
    throw storeNotEmpty(`table "${name}" has rows`);
  }
  const accounts = db.collection("repsync_accounts");
  const other = await accounts.findOne({ username: { $ne: adminUsername ?? "" } });
  if (other !== null) throw storeNotEmpty("it has accounts");
}

/** Drops what is the service's own but the mark and the holders, and the tables that will be filled. */
async function empty(db: Db, tables: readonly string[]): Promise<void> {
  const kept: readonly string[] = [STORE_FACTS, HOLDERS.name];
  const found = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  for (const { name } of found) {
    const isOwn = name.startsWith("repsync_") && !kept.includes(name);
    if (isOwn || tables.includes(name)) await db.dropCollection(name, { writeConcern: DURABLE });
  }
}

function held() {
  return storeHeld("A running service, or another command,", HOLD_SECONDS);
}
