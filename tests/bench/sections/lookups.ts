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

const FLOOR = fileURLToPath(new URL("../floors/lookup-floor.ts", import.meta.url));
const ROUNDS = 3;
const SECONDS = 5;
const MIN_RATIO = 0.4;
const MAX_P99_MS = 15;
const MIN_PER_SECOND_MONGODB = 5_000;
const STEADY = { perSecond: 1_000, seconds: 15 };
const MAX_STEADY_P95_MS = 25;
/** After so many nearly everybody was looked up before. */
const WARM_REQUESTS = 60_000;
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
    if (store.name === "SQLite") await againstBareRoute(scene);
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

async function againstBareRoute({ reporter, service, key, folder }: Scene): Promise<void> {
  const floor = await startFloor(await oneReply(service, key));
  const ours: Load[] = [];
  const other: Load[] = [];
  const load = (server: Server) =>
    loadWithWrk({ url: server.url, key }, { folder, seconds: SECONDS });
  try {
    await loadRequests({ url: service.url, key }, { folder, requests: WARM_REQUESTS });
    await load(floor);
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await load(service));
      other.push(await load(floor));
    }
  } finally {
    await floor.stop();
  }
  const rateOf = (loads: readonly Load[]) => median(loads.map(({ perSecond }) => perSecond));
  const p99Ms = median(ours.map((one) => one.p99Ms));
  reporter.add({
    name: `lookups of ${PEOPLE} people, ${CONNECTIONS} connections, SQLite`,
    ours: `${Math.round(rateOf(ours))}/s`,
    other: `${Math.round(rateOf(other))}/s`,
    ratio: rateOf(ours) / rateOf(other),
    bar: { atLeast: MIN_RATIO },
  });
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

async function startFloor(body: string): Promise<Server> {
  return await startServer({
    command: process.execPath,
    args: [FLOOR],
    env: { FLOOR_TARGET: body },
    logFile: "/dev/null",
    findUrl: (line) => / is listening on (\S+)$/.exec(line)?.[1] ?? null,
  });
}
