// A store as other programs see it.
import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { MongoClient } from "mongodb";

/** What a store tells of itself, by name. */
export async function readFacts(url: string): Promise<Readonly<Record<string, string>>> {
  if (url.startsWith("sqlite:")) {
    return withFile(url, (file) => {
      const rows = file.query<{ name: string; value: string }, []>("SELECT * FROM repsync_store");
      return Object.fromEntries(rows.all().map(({ name, value }) => [name, value]));
    });
  }
  if (isPostgres(url)) {
    const lines = await withServer(url, "select name, value from repsync._facts");
    return Object.fromEntries(lines);
  }
  return await withDatabase(url, async (client) => {
    const facts = client.db().collection<{ _id: string; value: string }>("repsync_store");
    const found = await facts.find().toArray();
    return Object.fromEntries(found.map(({ _id, value }) => [_id, value]));
  });
}

/** Sets or, with null, removes one of them. */
export async function writeFact(url: string, name: string, value: string | null): Promise<void> {
  if (url.startsWith("sqlite:")) {
    withFile(url, (file) => {
      file.run("DELETE FROM repsync_store WHERE name = ?", [name]);
      if (value !== null) file.run("INSERT INTO repsync_store VALUES (?, ?)", [name, value]);
    });
    return;
  }
  if (isPostgres(url)) {
    const [called, told] = [name, value ?? ""].map((text) => `'${text.replaceAll("'", "''")}'`);
    const make = value === null ? "" : `insert into repsync._facts values (${called}, ${told})`;
    await withServer(url, `delete from repsync._facts where name = ${called}; ${make}`);
    return;
  }
  await withDatabase(url, async (client) => {
    const facts = client.db().collection<{ _id: string }>("repsync_store");
    if (value === null) await facts.deleteOne({ _id: name });
    else await facts.updateOne({ _id: name }, { $set: { value } }, { upsert: true });
  });
}

/** Drops what `readFacts` reads, which stores from before it lack. */
export async function dropFacts(url: string): Promise<void> {
  await dropTable(url, isPostgres(url) ? "repsync._facts" : "repsync_store");
}

export async function dropTable(url: string, name: string): Promise<void> {
  if (url.startsWith("sqlite:")) withFile(url, (file) => file.run(`DROP TABLE ${name}`));
  else if (isPostgres(url)) await withServer(url, `drop table ${name}`);
  else await withDatabase(url, (client) => client.db().dropCollection(name));
}

function withFile<T>(url: string, work: (file: Database) => T): T {
  const file = new Database(url.slice("sqlite:".length));
  try {
    return work(file);
  } finally {
    file.close();
  }
}

/** The lines of every table that PostgreSQL has at an address, by the name of the table. */
export async function postgresLines(url: string): Promise<Readonly<Record<string, string[]>>> {
  const names =
    "select schemaname, tablename from pg_tables where schemaname in ('public', 'repsync')";
  const lines: Record<string, string[]> = {};
  for (const [schema, name] of await withServer(url, names)) {
    const rows = await withServer(url, `select t::text, '' from "${schema}"."${name}" as t`);
    lines[`${schema}.${name}`] = rows.map(([line]) => line).sort();
  }
  return lines;
}

export function isPostgres(url: string): boolean {
  return url.startsWith("postgres:");
}

async function withServer(url: string, text: string): Promise<readonly [string, string][]> {
  const sql = new SQL({ url, max: 1 });
  try {
    return await sql.unsafe(text).values();
  } finally {
    await sql.close();
  }
}

async function withDatabase<T>(url: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(url);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
