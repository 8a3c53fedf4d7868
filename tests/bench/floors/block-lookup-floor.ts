// The floor of lookups on a server: the same bytes after a transaction of the bare driver that writes the chained records
// of 64 callers, on MongoDB as one document, on PostgreSQL as one each. It knows no keys, limits, people or consents.
import { SQL } from "bun";
import { MongoClient } from "mongodb";
import { textList } from "../../../src/adapters/postgres/driver/sql.ts";
import { CONNECTIONS } from "../lookup-load.ts";
import { nextRecord } from "./chained-record.ts";
import { reply, serveLookupFloor } from "./serve-lookup-floor.ts";

interface Waiting {
  readonly username: string;
  readonly resolve: (reply: Response) => void;
}

type WriteBlock = (id: number, records: readonly object[]) => Promise<void>;

/** A batch waits so long for callers of the last one that have not come back. */
const WAIT_MS = 3;

const address = process.env.FLOOR_DATABASE ?? "";
const write = await (address.startsWith("postgres:") ? openPostgres() : openMongo());
let sequence = 0;
let waiting: Waiting[] = [];
let isBusy = false;
let everybodyIsThere = () => {};

async function openPostgres(): Promise<WriteBlock> {
  const database = new SQL({ url: address, max: 1 });
  await database.unsafe("CREATE TABLE floor_records (id int8 PRIMARY KEY, record json NOT NULL)");
  const insert =
    "INSERT INTO floor_records SELECT * FROM unnest($1::text[]::int8[], $2::text[]::json[])";
  return async (id, records) => {
    const ids = records.map((_, i) => String(id * CONNECTIONS + i));
    const texts = records.map((record) => JSON.stringify(record));
    await database.begin((tx) => tx.unsafe(insert, [textList(ids), textList(texts)]));
  };
}

async function openMongo(): Promise<WriteBlock> {
  const client = new MongoClient(address);
  await client.connect();
  const blocks = await client
    .db()
    .createCollection<{ _id: number; records: readonly object[] }>("floor_blocks");
  const transaction = {
    readConcern: { level: "snapshot" },
    writeConcern: { w: "majority", j: true },
  } as const;
  return async (_id, records) => {
    await client.withSession((session) =>
      session.withTransaction(() => blocks.insertOne({ _id, records }, { session }), transaction),
    );
  };
}

async function answerWaiting(): Promise<void> {
  while (waiting.length > 0) {
    await callersAreThere();
    const batch = waiting;
    waiting = [];
    const at = new Date().toISOString();
    await write(
      ++sequence,
      batch.map(({ username }) => nextRecord(username, at)),
    );
    for (const { resolve } of batch) resolve(reply());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  isBusy = false;
}

async function callersAreThere(): Promise<void> {
  if (waiting.length >= CONNECTIONS) return;
  await new Promise<void>((resolve) => {
    everybodyIsThere = resolve;
    setTimeout(resolve, WAIT_MS);
  });
}

serveLookupFloor(
  (username) =>
    new Promise<Response>((resolve) => {
      waiting.push({ username, resolve });
      if (waiting.length >= CONNECTIONS) everybodyIsThere();
      if (isBusy) return;
      isBusy = true;
      setImmediate(answerWaiting);
    }),
);
