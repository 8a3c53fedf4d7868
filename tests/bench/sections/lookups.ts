import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../alternate.ts";
import { residentBytes, type Server, startServer } from "../child-process.ts";
import {
  CONNECTIONS,
  hasWrk,
  type Load,
  loadWithWrk,
  steadyP95Ms,
  type Target,
} from "../lookup-load.ts";
import { makeCaller, makePeople, PEOPLE, personName } from "../lookup-scene.ts";
import { megabytes } from "../memory-watch.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const floorPath = (name: string) => fileURLToPath(new URL(`../floors/${name}.ts`, import.meta.url));
/** Decides nothing and records nothing. */
const BARE = floorPath("bare-lookup-floor");
/** Decides nothing. */
const AUDITED = floorPath("audited-lookup-floor");
const ROUNDS = 3;
const SECONDS = 5;
const MIN_RATIO = 0.4;
const MAX_P99_MS = 15;
const MIN_PER_SECOND_MONGODB = 5_000;
const STEADY = { perSecond: 1_000, seconds: 15 };
const MAX_STEADY_P95_MS = 25;
/** After so many everybody was looked up before. */
const WARM_REQUESTS = 120_000;
const STEADY_REQUESTS = 300_000;
const MANY_REQUESTS = 2_000_000;
const MAX_GROWTH = 1.2;

/** What the parts of this section work with. */
interface Scene {
  readonly store: BenchStore;
  readonly reporter: Reporter;
  readonly service: Server;
  readonly key: string;
  /** For scratch files. */
  readonly folder: string;
}

/** Lookups of ten thousand people with every check and the durable audit. */
export async function benchLookups(store: BenchStore, reporter: Reporter): Promise<void> {
  await withScene(store, reporter, async (scene) => {
    if (store.name === "SQLite") await againstFloors(scene);
    else await againstFixedRate(scene);
  });
}

/** Memory of the service over two million lookups. */
export async function benchEndurance(store: BenchStore, reporter: Reporter): Promise<void> {
  await withScene(store, reporter, async ({ service, key, folder }) => {
    const target = { url: service.url, key };
    await loadRequests(target, { folder, requests: STEADY_REQUESTS });
    const warmBytes = residentBytes(service.pid);
    await loadRequests(target, { folder, requests: MANY_REQUESTS });
    const laterBytes = residentBytes(service.pid);
    reporter.add({
      name: `memory after ${MANY_REQUESTS / 1e6} million more lookups, ${store.name}`,
      ours: megabytes(laterBytes),
      other: megabytes(warmBytes),
      ratio: laterBytes / warmBytes,
      bar: { atMost: MAX_GROWTH },
    });
  });
}

async function withScene(
  store: BenchStore,
  reporter: Reporter,
  measure: (scene: Scene) => Promise<void>,
): Promise<void> {
  if (!hasWrk()) {
    reporter.say("  Left out: there is no wrk on the PATH (apt-get install wrk)");
    return;
  }
  const label = `lookups_${Math.random().toString(36).slice(2)}`;
  await makePeople(store.storageUrl(label));
  const service = await store.startService(label);
  const folder = mkdtempSync(join(tmpdir(), "repsync-bench-"));
  try {
    await measure({ store, reporter, service, folder, key: await makeCaller(service.url) });
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

async function againstFloors({ reporter, service, key, folder }: Scene): Promise<void> {
  const body = await oneReply(service, key);
  const bare = await startFloor(BARE, { body, folder });
  const audited = await startFloor(AUDITED, { body, folder });
  const servers = [service, bare, audited];
  const loads = new Map<Server, Load[]>(servers.map((server) => [server, []]));
  try {
    for (const { url } of servers) {
      await loadRequests({ url, key }, { folder, requests: WARM_REQUESTS });
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [{ url }, done] of loads) {
        done.push(await loadWithWrk({ url, key }, { folder, seconds: SECONDS }));
      }
    }
  } finally {
    for (const floor of [bare, audited]) await floor.stop();
  }
  const loadsOf = (server: Server) => loads.get(server) ?? [];
  const rateOf = (server: Server) => median(loadsOf(server).map(({ perSecond }) => perSecond));
  const compare = (floor: Server) => ({
    ours: `${Math.round(rateOf(service))}/s`,
    other: `${Math.round(rateOf(floor))}/s`,
    ratio: rateOf(service) / rateOf(floor),
  });
  reporter.add({
    name: `lookups of ${PEOPLE} people, ${CONNECTIONS} connections, SQLite`,
    ...compare(bare),
    bar: { atLeast: MIN_RATIO },
  });
  reporter.add({
    name: "lookups, against durable records alone, SQLite",
    ...compare(audited),
    bar: null,
  });
  const p99Ms = median(loadsOf(service).map((one) => one.p99Ms));
  reporter.add({
    name: `lookups, ${CONNECTIONS} connections, 99th percentile, SQLite`,
    ours: `${p99Ms.toFixed(1)} ms`,
    other: `${MAX_P99_MS} ms allowed`,
    ratio: p99Ms / MAX_P99_MS,
    bar: { atMost: 1 },
  });
}

async function againstFixedRate({ reporter, service, key, folder }: Scene): Promise<void> {
  const target = { url: service.url, key };
  await loadRequests(target, { folder, requests: WARM_REQUESTS });
  const loads: Load[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    loads.push(await loadWithWrk(target, { folder, seconds: SECONDS }));
  }
  const perSecond = median(loads.map((load) => load.perSecond));
  reporter.add({
    name: `lookups of ${PEOPLE} people, ${CONNECTIONS} connections, MongoDB`,
    ours: `${Math.round(perSecond)}/s`,
    other: `${MIN_PER_SECOND_MONGODB}/s wanted`,
    ratio: perSecond / MIN_PER_SECOND_MONGODB,
    bar: { atLeast: 1 },
  });
  const p95Ms = await steadyP95Ms(target, STEADY);
  reporter.add({
    name: `lookups, ${STEADY.perSecond} a second, 95th percentile, MongoDB`,
    ours: `${p95Ms.toFixed(1)} ms`,
    other: `${MAX_STEADY_P95_MS} ms allowed`,
    ratio: p95Ms / MAX_STEADY_P95_MS,
    bar: { atMost: 1 },
  });
}

async function loadRequests(
  target: Target,
  { folder, requests }: { readonly folder: string; readonly requests: number },
): Promise<void> {
  for (let done = 0; done < requests; ) {
    done += (await loadWithWrk(target, { folder, seconds: SECONDS })).requests;
  }
}

async function oneReply(service: Server, key: string): Promise<string> {
  const address = `${service.url}/v1/public/profiles/${personName(0)}/reputation`;
  const reply = await fetch(address, { headers: { "X-API-Key": key } });
  if (reply.status !== 200) throw new Error(`A lookup answered ${reply.status}`);
  return await reply.text();
}

async function startFloor(
  path: string,
  { body, folder }: { readonly body: string; readonly folder: string },
): Promise<Server> {
  return await startServer({
    command: process.execPath,
    args: [path],
    env: { FLOOR_TARGET: body, FLOOR_FOLDER: folder },
    logFile: "/dev/null",
    findUrl: (line) => / is listening on (\S+)$/.exec(line)?.[1] ?? null,
  });
}
