// What a lookup, a pushed row and a person cost, in processor time and bytes: docs/operating.md plans with it.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { SQL } from "bun";
import { MongoClient } from "mongodb";
import { makePushBody, makeRows } from "../bench-rows.ts";
import { processorMs } from "../child-process.ts";
import { pushRows } from "../client.ts";
import { PEOPLE } from "../lookup-scene.ts";
import { LookupScene } from "../lookup-services.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const SECONDS = 10;
const ROWS = 5_000;
const PUSHES = 10;

export async function benchCosts(store: BenchStore, reporter: Reporter): Promise<void> {
  await LookupScene.use(store, reporter, async (scene) => {
    const service = await scene.startService();
    const url = store.storageUrl(service.label);
    const spent = async () => {
      const pids = isPostgres(url) ? await backends(url) : mongods(url);
      return { service: processorMs(service.pid), store: sumOf(pids.map(processorMs)) };
    };
    const say = async (what: string, count: number, before: Awaited<ReturnType<typeof spent>>) => {
      const after = await spent();
      const us = (name: keyof typeof after) =>
        (((after[name] - before[name]) * 1_000) / count).toFixed(1);
      reporter.say(`  ${what}: ${us("service")} µs of the service, ${us("store")} µs of the store`);
    };
    const bytesBefore = await bytesOf(url);
    let before = await spent();
    const { requests } = await scene.loadFor(SECONDS, service)();
    await say(`a lookup, of ${requests}`, requests, before);
    reporter.say(`  a lookup: ${((await bytesOf(url)) - bytesBefore) / requests} bytes`);
    const bodies = Array.from({ length: PUSHES }, (_, push) =>
      makePushBody(makeRows(push * ROWS, ROWS, 0)),
    );
    const rowBytes = await bytesOf(url);
    before = await spent();
    for (const body of bodies) await pushRows(service.url, body);
    await say("a pushed row", ROWS * PUSHES, before);
    reporter.say(`  a stored row: ${((await bytesOf(url)) - rowBytes) / (ROWS * PUSHES)} bytes`);
    for (const line of await sizesOf(url)) reporter.say(`  ${line}`);
    reporter.say(`  of ${PEOPLE} people`);
  });
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The members of the replica set at an address; none for a file. */
function mongods(url: string): readonly number[] {
  const ports: readonly string[] = url.startsWith("mongodb")
    ? [...url.matchAll(/:\d+(?=[,/])/g)].map(([port]) => port)
    : [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const command = commandOf(pid);
    return (
      command[0]?.includes("mongod") && ports.includes(`:${command[command.indexOf("--port") + 1]}`)
    );
  });
}

function commandOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function isPostgres(url: string): boolean {
  return url.startsWith("postgres");
}

/** The processes of the server that are there. */
async function backends(url: string): Promise<readonly number[]> {
  const lines = await ask(url, "select pid from pg_stat_activity");
  return lines.map(([pid]) => Number(pid));
}

/** Bytes of a file, or of data and indexes in a member, as they are compressed on its disk. */
async function bytesOf(url: string): Promise<number> {
  if (url.startsWith("sqlite:")) {
    const path = url.slice("sqlite:".length);
    return statSync(path).size;
  }
  if (isPostgres(url)) {
    await ask(url, "checkpoint");
    const [[bytes] = []] = await ask(url, "select pg_database_size(current_database())");
    return Number(bytes);
  }
  return await withClient(url, async (client) => {
    await client.db("admin").command({ fsync: 1 });
    const { storageSize, indexSize } = await client.db().command({ dbStats: 1 });
    return storageSize + indexSize;
  });
}

/** What each collection takes, by document. */
async function sizesOf(url: string): Promise<readonly string[]> {
  if (url.startsWith("sqlite:")) return [];
  if (isPostgres(url)) {
    const text = `select relname, n_live_tup, pg_table_size(relid), pg_indexes_size(relid) from pg_stat_user_tables where n_live_tup >= 1000`;
    return (await ask(url, text)).map(([name, count, size, indexes]) => {
      const each = (bytes: unknown) => Math.round(Number(bytes) / Number(count));
      return `${name}: ${count}, ${each(size)} bytes each, ${each(indexes)} of indexes`;
    });
  }
  return await withClient(url, async (client) => {
    const names = await client.db().listCollections({}, { nameOnly: true }).toArray();
    const lines: string[] = [];
    for (const { name } of names) {
      const { count, size, storageSize, totalIndexSize } = await client
        .db()
        .command({ collStats: name });
      if (count < 1_000) continue;
      const each = (bytes: number) => Math.round(bytes / count);
      lines.push(
        `${name}: ${count}, ${each(size)} bytes each, ${each(storageSize)} on the disk, ${each(totalIndexSize)} of indexes`,
      );
    }
    return lines;
  });
}

async function withClient<T>(url: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(url);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function ask(url: string, text: string): Promise<readonly (readonly unknown[])[]> {
  const sql = new SQL({ url, max: 1 });
  try {
    return (await sql.unsafe(text).values()) as unknown[][];
  } finally {
    await sql.close();
  }
}
