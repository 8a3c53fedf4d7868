// Without its pre-image, the event of a delete names no key. Collections keep pre-images when they are told to, from MongoDB
// 6.0 on.
import { type Db, MongoServerError } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { hasCode, isPassing } from "../driver/errors.ts";

/** MongoDB 6.0. */
const MIN_WIRE_VERSION = 17;
const NAMESPACE_NOT_FOUND = 26;

/** Throws `schema_conflict` when a server is too old for these tables. D-7.6. */
export async function checkVersion(db: Db, tables: readonly Table[]): Promise<void> {
  if (tables.length === 0) return;
  const { maxWireVersion } = await db.command({ hello: 1 });
  const problem = versionProblem(Number(maxWireVersion), tables);
  if (problem !== null) throw new AppError("schema_conflict", problem);
}

/** What is wrong with a server of this version; null for nothing. */
export function versionProblem(wireVersion: number, tables: readonly Table[]): string | null {
  if (wireVersion >= MIN_WIRE_VERSION) return null;
  const names = tables.map(({ name }) => `Table "${name}"`).join(", ");
  return `${names}: "deletes" needs MongoDB 6.0 or later: upgrade MongoDB, or remove "deletes" from the registry`;
}

/** Has a table's collection keep pre-images, unless it does or is not there. Throws `schema_conflict` when that is refused. */
export async function keepPreImages(db: Db, tableName: string): Promise<void> {
  const [collection] = await db.listCollections({ name: tableName }).toArray();
  if (collection === undefined || !("options" in collection)) return;
  if (collection.options?.["changeStreamPreAndPostImages"]?.enabled === true) return;
  try {
    await db.command({ collMod: tableName, changeStreamPreAndPostImages: { enabled: true } });
  } catch (error) {
    if (hasCode(error, NAMESPACE_NOT_FOUND)) return;
    if (!(error instanceof MongoServerError) || isPassing(error)) throw error;
    const message = `Table "${tableName}": "deletes" needs MongoDB with featureCompatibilityVersion 6.0 or later and the right to change the collection (role dbAdmin), but it answers ${error.codeName ?? error.code}`;
    throw new AppError("schema_conflict", message, { cause: error });
  }
}
