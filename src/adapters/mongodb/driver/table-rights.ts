// The rights of the URL's user to the collection of a table, as the server tells them. Where nobody has to log in, it tells nothing.
import type { Db, Document } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";

const WRITING = ["find", "insert", "update", "remove", "collStats"] as const;

/** A privilege, on a collection or a whole database. */
interface Privilege {
  readonly resource: {
    readonly db?: string;
    readonly collection?: string;
    readonly anyResource?: boolean;
  };
  readonly actions: readonly string[];
}

/** The privileges of the user; null where all may do everything. */
export type Rights = readonly Privilege[] | null;

/** The work of a start on a collection. */
interface Work {
  readonly table: Table;
  /** True when an index is made. */
  readonly makesIndexes: boolean;
  readonly dropsIndexes: boolean;
  /** The collection as the server lists it; undefined where there is none. */
  readonly info: Document | undefined;
}

export async function readRights(db: Db): Promise<Rights> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true });
  const isAnybody = (authInfo?.authenticatedUsers ?? []).length === 0;
  return isAnybody ? null : (authInfo.authenticatedUserPrivileges ?? []);
}

/** Names what the user lacks for a table, before the start that would fail for it changes anything. */
export function rightsProblems(db: Db, rights: Rights, work: Work): string[] {
  const { table, makesIndexes, dropsIndexes, info } = work;
  const hasPreImages = info?.["options"]?.["changeStreamPreAndPostImages"]?.enabled === true;
  const needed: readonly string[] = [
    ...WRITING,
    ...(makesIndexes ? ["createIndex"] : []),
    ...(dropsIndexes ? ["dropIndex"] : []),
  ];
  const may = (action: string, collection = table.name) =>
    rights === null || rights.some((one) => allows(one, action, { db, collection }));
  const lacking = needed.filter((action) => !may(action));
  // The stream is that of the database.
  if (table.deletes && !may("changeStream", "")) lacking.push("changeStream");
  const roles = lacking.length === 0 ? [] : [`${lacking.join(", ")} (role readWrite)`];
  if (table.deletes && !hasPreImages && !may("collMod")) roles.push("collMod (role dbAdmin)");
  if (roles.length === 0) return [];
  return [`the user of STORAGE_URL lacks privileges there: ${roles.join(", ")}`];
}

interface Place {
  readonly db: Db;
  /** `""` stands for all of the database. */
  readonly collection: string;
}

function allows({ resource, actions }: Privilege, action: string, place: Place): boolean {
  if (!actions.includes(action)) return false;
  if (resource.anyResource === true) return true;
  const { db, collection } = resource;
  const isOfDatabase = db === "" || db === place.db.databaseName;
  return isOfDatabase && (collection === "" || collection === place.collection);
}
