// A second floor of lookups: the same bytes after one chained record each, a row of SQLite, is on the disk, by batches as
// large as come together. It knows no keys, limits, people or consents.
import { Database } from "bun:sqlite";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { nextRecord } from "./chained-record.ts";
import { reply, serveLookupFloor } from "./serve-lookup-floor.ts";

interface Waiting {
  readonly username: string;
  readonly resolve: (reply: Response) => void;
}

const file = join(process.env.FLOOR_FOLDER ?? "", "floor.db");
const database = new Database(file);
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = NORMAL");
database.run("CREATE TABLE records (seq INTEGER PRIMARY KEY, record TEXT, hash TEXT)");
const insert = database.prepare("INSERT INTO records (record, hash) VALUES (?, ?)");
const log = await open(`${file}-wal`, "r+");
let waiting: Waiting[] = [];
let isBusy = false;

const append = database.transaction((usernames: readonly string[]) => {
  const at = new Date().toISOString();
  for (const username of usernames) {
    const { record, hash } = nextRecord(username, at);
    insert.run(record, hash);
  }
});

async function answerWaiting(): Promise<void> {
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    append(batch.map(({ username }) => username));
    await log.datasync();
    for (const { resolve } of batch) resolve(reply());
  }
  isBusy = false;
}

serveLookupFloor(
  (username) =>
    new Promise<Response>((resolve) => {
      waiting.push({ username, resolve });
      if (isBusy) return;
      isBusy = true;
      setImmediate(answerWaiting);
    }),
);
