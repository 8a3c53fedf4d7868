// A second floor of lookups: the same bytes after one chained record each, a row of SQLite, is on the disk, by batches as
// large as come together. It knows no keys, limits, people or consents.
import { Database } from "bun:sqlite";
import { open } from "node:fs/promises";
import { join } from "node:path";
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
const key = crypto.getRandomValues(new Uint8Array(32));
const subjects = new Map<string, string>();
let previousHash = "";
let waiting: Waiting[] = [];
let isBusy = false;

const append = database.transaction((usernames: readonly string[]) => {
  const at = new Date().toISOString();
  for (const username of usernames) {
    const record = JSON.stringify({
      ...{ at, subjectHmac: subjectOf(username), requestId: crypto.randomUUID(), previousHash },
      ...{ accountId: "6f1f0a5c5a5f4f3e", keyId: "b7d3c1a9e5f70213", consentId: 1, status: 200 },
      ...{ endpoint: "reputation", purpose: "reputation_lookup", decision: "allowed", code: null },
    });
    previousHash = hmacHex(record);
    insert.run(record, previousHash);
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

function hmacHex(text: string): string {
  return new Bun.CryptoHasher("sha256", key).update(text).digest("hex");
}

function subjectOf(username: string): string {
  const known = subjects.get(username) ?? hmacHex(username);
  subjects.set(username, known);
  return known;
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
