// A database that everything is moved from, or to. D-10.7.
import type { Db } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { STORE_FORMAT } from "../../../domain/shared/store-format.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { PortableStore, PortableTarget } from "../../../ports/copies/portable-store.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import type { Logger } from "../../../ports/runtime/logger.ts";
import { connect } from "../driver/connection.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import { toAppError } from "../driver/errors.ts";
import { HOLD_SECONDS, isHeld } from "../driver/holders.ts";
import { setFact } from "../driver/store-facts.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";
import { PortableDatabase } from "./portable-database.ts";
import { claimEmptyDatabase } from "./restore.ts";

interface Address {
  readonly collections: readonly AnyCollection[];
  readonly url: string;
  readonly clock: Stopwatch;
  readonly logger: Logger;
}

export interface DatabaseSource extends PortableStore {
  /** Tables with rows that are not among these. */
  unknownTables(names: readonly string[]): Promise<readonly string[]>;
  /** Throws `invalid_request` when a service uses the database. */
  requireStopped(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a prepared database. */
export async function openDatabaseSource({
  url,
  collections,
  ...deps
}: Address): Promise<DatabaseSource> {
  const { client, db } = await connect(url, deps, async () => {});
  const source = new PortableDatabase(db, collections);
  return {
    read: (part, tables) => source.read(part, tables),
    readRows: (table) => source.readRows(table),
    unknownTables: (names) => unknownTables(db, names),
    async requireStopped() {
      if (!(await isHeld(db))) return;
      const text = `A running service holds the store, or did within the last ${HOLD_SECONDS} s: stop it first`;
      throw new AppError("invalid_request", text);
    },
    close: () => client.close(),
  };
}

/** Throws `invalid_request` for a database that is not empty or that a service uses. */
export async function openDatabaseTarget(
  { url, collections, ...deps }: Address,
  {
    adminUsername,
    tables,
    prepare,
  }: { adminUsername: string | null; tables: readonly Table[]; prepare: () => Promise<void> },
): Promise<PortableTarget> {
  const { client, db } = await connect(url, deps, async () => {});
  try {
    const names = tables.map(({ name }) => name);
    const claim = await claimEmptyDatabase(db, adminUsername, names, "move");
    const target = new PortableDatabase(db, collections);
    const giveUp = async () => {
      await claim.giveUp();
      await client.close();
    };
    await prepare().catch(async (error: unknown) => {
      await claim.giveUp();
      throw error;
    });
    return {
      read: (part, all) => target.read(part, all),
      readRows: (table) => target.readRows(table),
      write: (part, entries, all) => told(() => target.write(part, entries, all)),
      writeRows: (table, rows) => told(() => target.writeRows(table, rows)),
      async finish() {
        await setFact(db, "format", String(STORE_FORMAT));
        await claim.finish();
        await client.close();
      },
      giveUp,
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function unknownTables(db: Db, names: readonly string[]): Promise<readonly string[]> {
  const definitions = db.collection<{ _id: string }>(TABLE_DEFINITIONS.name);
  const found: string[] = [];
  for (const { _id } of await definitions.find().toArray()) {
    if (names.includes(_id)) continue;
    if ((await db.collection(_id).findOne({}, { projection: { _id: 1 } })) !== null)
      found.push(_id);
  }
  return found;
}

async function told(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isOfDriver = error instanceof Error && "code" in error;
    throw isOfDriver ? toAppError(error) : error;
  }
}
