// A store as other programs see it.
import { Database } from "bun:sqlite";
import { MongoClient } from "mongodb";

/** What `repsync_store` holds, by name. */
export async function readFacts(url: string): Promise<Readonly<Record<string, string>>> {
  if (url.startsWith("sqlite:")) {
    return withFile(url, (file) => {
      const rows = file.query<{ name: string; value: string }, []>("SELECT * FROM repsync_store");
      return Object.fromEntries(rows.all().map(({ name, value }) => [name, value]));
    });
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
  await withDatabase(url, async (client) => {
    const facts = client.db().collection<{ _id: string }>("repsync_store");
    if (value === null) await facts.deleteOne({ _id: name });
    else await facts.updateOne({ _id: name }, { $set: { value } }, { upsert: true });
  });
}

/** Drops `repsync_store`, which stores from before it lack. */
export async function dropFacts(url: string): Promise<void> {
  if (url.startsWith("sqlite:")) withFile(url, (file) => file.run("DROP TABLE repsync_store"));
  else await withDatabase(url, (client) => client.db().dropCollection("repsync_store"));
}

function withFile<T>(url: string, work: (file: Database) => T): T {
  const file = new Database(url.slice("sqlite:".length));
  try {
    return work(file);
  } finally {
    file.close();
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
