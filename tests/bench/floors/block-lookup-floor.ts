// The floor of lookups on MongoDB: the same bytes after a transaction of the bare driver that writes the chained records
// of 64 callers as one document. It knows no keys, limits, people or consents.
import { MongoClient } from "mongodb";
import { CONNECTIONS } from "../lookup-load.ts";
import { nextRecord } from "./chained-record.ts";
import { reply, serveLookupFloor } from "./serve-lookup-floor.ts";

interface Waiting {
  readonly username: string;
  readonly resolve: (reply: Response) => void;
}

/** A batch waits so long for callers of the last one that have not come back. */
const WAIT_MS = 3;

const client = new MongoClient(process.env.FLOOR_DATABASE ?? "");
await client.connect();
const blocks = await client.db().createCollection<{ _id: number; records: object[] }>("blocks");
const transaction = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority", j: true },
} as const;
let sequence = 0;
let waiting: Waiting[] = [];
let isBusy = false;
let everybodyIsThere = () => {};

async function writeBlock(usernames: readonly string[]): Promise<void> {
  const at = new Date().toISOString();
  const block = { _id: ++sequence, records: usernames.map((name) => nextRecord(name, at)) };
  await client.withSession((session) =>
    session.withTransaction(() => blocks.insertOne(block, { session }), transaction),
  );
}

async function answerWaiting(): Promise<void> {
  while (waiting.length > 0) {
    await callersAreThere();
    const batch = waiting;
    waiting = [];
    await writeBlock(batch.map(({ username }) => username));
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
