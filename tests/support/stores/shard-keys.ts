// What the service asks MongoDB for carries the shard key, in all tests that watch it. Documents have one key, `_id`, and are
// sharded by it, by range; keys begin with the name of a person, account or chain. A command without it goes to every shard.
// Only reads of whole tables may do that.
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";

/** The field by which each collection of the service's own is sharded, where it is: keys begin with a name or an id. */
const OWN_KEYS: ReadonlyMap<string, string> = new Map([
  ["repsync_consents", "_id"],
  ["repsync_lookup_log", "_id"],
]);

/** Reads of own collections that go to every shard. */
const OWN_READS: ReadonlyMap<string, readonly string[]> = new Map([
  // Those that are open, by their owners; all of them where a start makes an index, or copies them.
  ["repsync_consents", ["$or,_at.open", ""]],
  // All of them, where they are copied; the next one behind a chain, whatever it is, where the log is verified.
  ["repsync_lookup_log", ["", "$expr"]],
]);

/** The first column of each table's upsert key, by database and table, as its unique index tells. */
const tableKeys = new Map<string, string>();
/** What was asked without a shard key, by database. */
const problems = new Map<string, string[]>();

let isWatching = false;

/** Looks at all commands of clients with `monitorCommands` from now on. */
export function watchShardKeys(): void {
  if (isWatching) return;
  isWatching = true;
  const { emit } = MongoClient.prototype;
  MongoClient.prototype.emit = function (this: MongoClient, name, ...args) {
    if (name === "commandStarted") look(args[0] as CommandStartedEvent);
    return Reflect.apply(emit, this, [name, ...args]);
  } as typeof emit;
}

/** What was asked of a database without a shard key; forgotten then. */
export function takeShardProblems(database: string): readonly string[] {
  const found = problems.get(database) ?? [];
  problems.delete(database);
  return found;
}

function look({ commandName, command, databaseName }: CommandStartedEvent): void {
  const problem = shardProblem(commandName, command, databaseName);
  if (problem === null) return;
  problems.set(databaseName, [...(problems.get(databaseName) ?? []), problem]);
}

/** Null for a command that every shard key allows. */
export function shardProblem(name: string, command: Document, database: string): string | null {
  const collection: unknown = command[name];
  if (typeof collection !== "string") return null;
  const table = `${database}.${collection}`;
  if (name === "createIndexes") noteTableKey(table, command);
  const isOwn = collection.startsWith("repsync_");
  const key = isOwn ? OWN_KEYS.get(collection) : tableKeys.get(table);
  if (key === undefined) return null;
  const without = filtersOf(name, command).filter((filter) => !carries(filter, key));
  const isAllowed = (filter: Document | undefined) =>
    isPerson(collection, filter) ||
    (isOwn
      ? (OWN_READS.get(collection)?.includes(fieldsOf(filter)) ?? false) && !isWrite(name)
      : isOfWholeTable(name, command));
  const [problem] = without.filter((filter) => !isAllowed(filter));
  if (without.length === 0 || without.every(isAllowed)) return null;
  return `${name} of ${collection} by (${fieldsOf(problem)}), without ${key}`;
}

/** A registry may key the tables of people by other columns: then one person's rows may be anywhere. */
function isPerson(collection: string, filter: Document | undefined): boolean {
  const isOfPeople = ["profiles", "platform_accounts"].includes(collection);
  return isOfPeople && fieldsOf(filter) === "username";
}

/** Reads in the order of a table and its counts, which name an index; and what a start asks that changes the registry. */
function isOfWholeTable(name: string, command: Document): boolean {
  if (command["autocommit"] === false) return name === "find" && command["hint"] !== undefined;
  if (isWrite(name)) return true;
  return command["hint"] !== undefined || command["limit"] === 1 || name === "aggregate";
}

function isWrite(name: string): boolean {
  return ["update", "delete", "findAndModify"].includes(name);
}

function filtersOf(name: string, command: Document): readonly (Document | undefined)[] {
  switch (name) {
    case "update":
      return command["updates"].map(({ q }: Document) => q);
    case "delete":
      return command["deletes"].map(({ q }: Document) => q);
    case "find":
      return [command["filter"]];
    case "aggregate":
      return [command["pipeline"][0]?.["$match"]];
    case "findAndModify":
    case "count":
    case "distinct":
      return [command["query"]];
    default:
      return [];
  }
}

/** Whether whatever a filter finds has one of the values that it names for a field. */
function carries(filter: Document | undefined, key: string): boolean {
  if (filter === undefined) return false;
  if (key in filter) return true;
  const every: Document[] = filter["$or"] ?? [];
  const some: Document[] = filter["$and"] ?? [];
  return (
    (every.length > 0 && every.every((one) => carries(one, key))) ||
    some.some((one) => carries(one, key))
  );
}

/** Names of a filter's fields, also where all of them stand in one `$and`; `-` without a filter. */
function fieldsOf(filter: Document | undefined): string {
  if (filter === undefined) return "-";
  const { $and: every, ...others } = filter;
  const parts: Document[] = Array.isArray(every) ? [...every, others] : [filter];
  return [...new Set(parts.flatMap((part) => Object.keys(part)))].sort().join();
}

function noteTableKey(table: string, command: Document): void {
  for (const { unique, key } of command["indexes"] as Document[]) {
    const [first] = key instanceof Map ? key.keys() : Object.keys(key);
    if (unique === true && first !== undefined) tableKeys.set(table, first);
  }
}
