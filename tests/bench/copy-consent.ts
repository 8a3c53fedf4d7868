// Gives a person's consent to thousands of others, around the service: one by one through its routes takes minutes on
// MongoDB, which numbers consents one commit after the other.
import { Database } from "bun:sqlite";
import { Long, MongoClient } from "mongodb";

const NAME = "repsync_consents";

/** Copies the only consent in a SQLite file. */
export function copySqliteConsent(file: string, usernames: readonly string[]): void {
  const database = new Database(file);
  const copy = database.prepare(
    `INSERT INTO ${NAME} (username, purpose, granted_at, expires_at)
     SELECT ?, purpose, granted_at, expires_at FROM ${NAME} ORDER BY id LIMIT 1`,
  );
  const copyAll = database.transaction(() => {
    for (const username of usernames) copy.run(username);
  });
  copyAll.immediate();
  database.close();
}

/** Copies the only consent in a MongoDB database. */
export async function copyMongoConsent(uri: string, usernames: readonly string[]): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const consents = client.db().collection<{ _id: number }>(NAME);
    const consent = await consents.findOne();
    if (consent === null) throw new Error("There is no consent to copy");
    const copies = usernames.map((username, i) => ({
      ...consent,
      _id: consent._id + 1 + i,
      username,
    }));
    const writeConcern = { w: "majority", j: true } as const;
    await consents.insertMany(copies, { writeConcern });
    // So that the next grant gets a number that no copy has.
    const counters = client.db().collection<{ _id: string }>("repsync_counters");
    const last = Long.fromNumber(consent._id + copies.length);
    await counters.updateOne({ _id: NAME }, { $set: { last } }, { writeConcern });
  } finally {
    await client.close();
  }
}
