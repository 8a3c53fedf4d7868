// Gives a person's consent to thousands of others, around the service: one by one through its routes takes minutes on
// MongoDB. Knows how consents were kept before they were documents, so that older versions can be measured beside this one.
import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { type Document, Long, MongoClient } from "mongodb";
import { CollectionTable } from "../../src/adapters/postgres/documents/collection-table.ts";
import { keyBytes } from "../../src/ports/stored-documents.ts";
import { CONSENTS } from "../../src/repositories/account-collections.ts";

const NAME = "repsync_consents";
/** Stands in the order of open consents for one that does not expire. */
const WITHOUT_EXPIRY = "~";

/** A consent of one of those who get copies, with a number that nobody has. */
interface Copy {
  readonly username: string;
  readonly id: number;
}

function copiesAfter(id: number, usernames: readonly string[]): readonly Copy[] {
  return usernames.map((username, i) => ({ username, id: id + 1 + i }));
}

/** Copies the only consent in a SQLite file. */
export function copySqliteConsent(file: string, usernames: readonly string[]): void {
  const database = new Database(file);
  const columns = database.query<{ name: string }, []>(`PRAGMA table_info(${NAME})`).all();
  const copyOne = columns.some(({ name }) => name === "doc")
    ? documentCopier(database)
    : rowCopier(database);
  const copyAll = database.transaction(() => {
    for (const copy of copiesAfter(1, usernames)) copyOne(copy);
  });
  copyAll.immediate();
  database.close();
}

function documentCopier(database: Database): (copy: Copy) => void {
  const [found] = database.query<{ doc: string }, []>(`SELECT doc FROM ${NAME} LIMIT 1`).all();
  if (found === undefined) throw new Error("There is no consent to copy");
  const consent = JSON.parse(found.doc);
  const put = database.prepare(`INSERT INTO ${NAME} (key, doc, at_open) VALUES (?, ?, ?)`);
  return ({ username, id }) => {
    const key = [username, id];
    const place = [username, consent.expiresAt ?? WITHOUT_EXPIRY, ...key];
    put.run(keyBytes(key), JSON.stringify({ ...consent, username, id }), keyBytes(place));
  };
}

function rowCopier(database: Database): (copy: Copy) => void {
  const copy = database.prepare(
    `INSERT INTO ${NAME} (username, purpose, granted_at, expires_at)
     SELECT ?, purpose, granted_at, expires_at FROM ${NAME} ORDER BY id LIMIT 1`,
  );
  return ({ username }) => void copy.run(username);
}

/** Copies the only consent in a PostgreSQL database. */
export async function copyPostgresConsent(
  url: string,
  usernames: readonly string[],
): Promise<void> {
  const table = new CollectionTable(CONSENTS);
  const database = new SQL({ url, max: 1 });
  try {
    const [found] = await database.unsafe(`SELECT doc FROM ${table.name}`);
    if (found === undefined) throw new Error("There is no consent to copy");
    const copies = copiesAfter(1, usernames).map(({ username, id }) => {
      return { ...found.doc, username, id };
    });
    const { text, parameters } = table.put(copies);
    await database.unsafe(text, [...parameters]);
  } finally {
    await database.close();
  }
}

/** Copies the only consent in a MongoDB database. */
export async function copyMongoConsent(uri: string, usernames: readonly string[]): Promise<void> {
  const client = new MongoClient(uri);
  const writeConcern = { w: "majority", j: true } as const;
  try {
    const consents = client.db().collection<Document>(NAME);
    const consent = await consents.findOne();
    if (consent === null) throw new Error("There is no consent to copy");
    if (typeof consent["_id"] !== "number") {
      const copies = copiesAfter(1, usernames).map((copy) => documentOf(consent, copy));
      await consents.insertMany(copies, { writeConcern });
      return;
    }
    const first: number = consent["_id"];
    const copies = copiesAfter(first, usernames).map(({ username, id }) => {
      return { ...consent, _id: id, username };
    });
    await consents.insertMany(copies as Document[], { writeConcern });
    // So that the next grant gets a number that no copy has.
    const counters = client.db().collection<{ _id: string }>("repsync_counters");
    const last = Long.fromNumber(first + copies.length);
    await counters.updateOne({ _id: NAME }, { $set: { last } }, { writeConcern });
  } finally {
    await client.close();
  }
}

function documentOf(consent: Document, { username, id }: Copy): Document {
  const open = { 0: username, 1: consent["expiresAt"] ?? WITHOUT_EXPIRY, 2: username, 3: id };
  return { ...consent, _id: { 0: username, 1: id }, username, id, _at: { open } };
}
