// A second floor of lookups: the same bytes after one chained record each, a row of SQLite, is on the disk, by batches as
// large as come together. It knows no keys, limits, people or consents.
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Elysia } from "elysia";

interface Waiting {
  readonly username: string;
  readonly resolve: (reply: Response) => void;
}

const body = process.env.FLOOR_TARGET ?? "";
const headers = { "Content-Type": "application/json" };
const folder = mkdtempSync(join(tmpdir(), "repsync-floor-"));
process.on("SIGTERM", () => {
  rmSync(folder, { recursive: true });
  process.exit(0);
});
const database = new Database(join(folder, "floor.db"));
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = NORMAL");
database.run("CREATE TABLE records (seq INTEGER PRIMARY KEY, record TEXT, hash TEXT)");
const insert = database.prepare("INSERT INTO records (record, hash) VALUES (?, ?)");
const log = await open(join(folder, "floor.db-wal"), "r+");
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
    for (const { resolve } of batch) resolve(new Response(body, { headers }));
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

const app = new Elysia().get(
  "/v1/public/profiles/:username/reputation",
  ({ params: { username } }) =>
    new Promise<Response>((resolve) => {
      waiting.push({ username, resolve });
      if (isBusy) return;
      isBusy = true;
      setImmediate(answerWaiting);
    }),
);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  development: false,
  fetch: (request) => app.handle(request),
});
console.log(`floor is listening on ${server.url.origin}`);
