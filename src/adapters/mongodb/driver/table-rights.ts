// The rights of the URL's user to a table's collection. A server without logins tells nothing.
import type { Db, Document } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";

const WRITING = ["find", "insert", "update", "remove", "collStats"] as const;

interface Privilege {
  readonly resource: {
    readonly db?: string;
    readonly collection?: string;
    readonly anyResource?: boolean;
  };
  readonly actions: readonly string[];
}

/** Null where everybody may do everything. */
export type Rights = readonly Privilege[] | null;

interface Work {
  readonly table: Table;
  readonly makesIndexes: boolean;
  readonly dropsIndexes: boolean;
  /** The collection as the server lists it; undefined when it does not exist. */
  readonly info: Document | undefined;
}

export async function readRights(db: Db): Promise<Rights> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true });
  const isAnybody = (authInfo?.authenticatedUsers ?? []).length === 0;
  return isAnybody ? null : (authInfo.authenticatedUserPrivileges ?? []);
}

/** Names missing privileges before a start changes anything. */
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
  // The change stream is that of the database.
  if (table.deletes && !may("changeStream", "")) lacking.push("changeStream");
  const roles = lacking.length === 0 ? [] : [`${lacking.join(", ")} (role readWrite)`];
  if (table.deletes && !hasPreImages && !may("collMod")) roles.push("collMod (role dbAdmin)");
  if (roles.length === 0) return [];
  return [`the user of STORAGE_URL lacks privileges there: ${roles.join(", ")}`];
}

interface Place {
  readonly db: Db;
  /** `""` for the whole database. */
  readonly collection: string;
}

function allows({ resource, actions }: Privilege, action: string, place: Place): boolean {
  if (!actions.includes(action)) return false;
  if (resource.anyResource === true) return true;
  const { db, collection } = resource;
  const isOfDatabase = db === "" || db === place.db.databaseName;
  return isOfDatabase && (collection === "" || collection === place.collection);
}
