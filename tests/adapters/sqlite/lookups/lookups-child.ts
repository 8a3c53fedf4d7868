// A process of its own that looks people up on a shared file.
// Arguments: the file, the hash of the key, the looked-up name, the number of calls. Without a number it answers every
// line of its input with the outcome of a lookup begun after it, while other lookups go on all the time.

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import {
  NO_DEADLINE,
  openParts,
  type ReputationParts,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { remembering } from "../reputation-support.ts";

interface Child {
  readonly parts: ReputationParts;
  readonly call: () => Promise<string>;
}

async function start(path: string, keyHash: string, username: string): Promise<Child> {
  const storage = await SqliteStorage.open(openBunSqlite, path, {
    clock: new SystemClock(),
    collections: COLLECTIONS,
  });
  const parts = await openParts(withRunParts(storage), remembering);
  let count = 0;
  const call = async () => {
    const requestId = `request-${process.pid}-${count++}`;
    const lookup = { keyHash, username, endpoint: "reputation" as const, requestId };
    const [outcome] = await parts.lookupProcessor.decide([lookup], NO_DEADLINE);
    return outcome === undefined ? "" : wordOf(outcome);
  };
  return { parts, call };
}

async function makeCalls({ parts, call }: Child, calls: number): Promise<void> {
  const words = await Promise.all(Array.from({ length: calls }, call));
  for (const word of words) writeSync(1, `${word}\n`);
  await parts.storage.close();
}

async function answerLines({ call }: Child): Promise<void> {
  let isEnding = false;
  const readers = Array.from({ length: 4 }, async () => {
    while (!isEnding) {
      await call();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  writeSync(1, "ready\n");
  for await (const _line of createInterface({ input: process.stdin })) {
    writeSync(1, `${await call()}\n`);
  }
  isEnding = true;
  await Promise.all(readers);
}

const [path = "", keyHash = "", username = "", calls] = process.argv.slice(2);
const child = await start(path, keyHash, username);
if (calls === undefined) await answerLines(child);
else await makeCalls(child, Number(calls));
process.exit(0);
