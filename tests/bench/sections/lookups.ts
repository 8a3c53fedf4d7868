import { fileURLToPath } from "node:url";
import { processorMs, residentBytes, type Server, startServer } from "../child-process.ts";
import { CONNECTIONS, loadWithWrk, steadyP95Ms, type Target } from "../lookup-load.ts";
import { type Loads, p99Text, rateText, ratioOf, takeTurns } from "../lookup-rounds.ts";
import { PEOPLE } from "../lookup-scene.ts";
import { LookupScene, type LookupService } from "../lookup-services.ts";
import { megabytes } from "../memory-watch.ts";
import { sized } from "../quick.ts";
import type { BenchResult, Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

const floorPath = (name: string) => fileURLToPath(new URL(`../floors/${name}.ts`, import.meta.url));
/** Decides nothing and records nothing. */
const BARE = floorPath("bare-lookup-floor");
const TOGETHER = { path: floorPath("block-lookup-floor"), atLeast: 0.5 };
/** Decides nothing, and records durably. */
const RECORDS = {
  SQLite: { path: floorPath("audited-lookup-floor"), atLeast: 0.4 },
  MongoDB: TOGETHER,
  PostgreSQL: TOGETHER,
};
const ROUNDS = 5;
const SECONDS = 3;
const STEADY = { perSecond: 1_000, seconds: 10 };
const WARM_SECONDS = 5;
const STEADY_REQUESTS = sized(300_000, 1_000);
const MANY_REQUESTS = sized(2_000_000, 1_000);
const MAX_GROWTH = 1.2;

/** Lookups of ten thousand people with every check and the durable audit. */
export async function benchLookups(store: BenchStore, reporter: Reporter): Promise<void> {
  await LookupScene.use(store, reporter, (scene) => againstFloors(scene, reporter));
}

/** Memory of the service over two million lookups. */
export async function benchEndurance(store: BenchStore, reporter: Reporter): Promise<void> {
  await LookupScene.use(store, reporter, async (scene) => {
    const service = await scene.startService();
    await loadRequests(scene, service, STEADY_REQUESTS);
    const warmBytes = residentBytes(service.pid);
    await loadRequests(scene, service, MANY_REQUESTS);
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

async function againstFloors(scene: LookupScene, reporter: Reporter): Promise<void> {
  const { name } = scene.store;
  const { path, atLeast } = RECORDS[name];
  const service = await scene.startService();
  const bare = await startFloor(scene, service, BARE);
  const records = await startFloor(scene, service, path);
  const beforeMs = processorMs(service.pid);
  const loads = await takeTurns(
    {
      service: scene.loadFor(SECONDS, service),
      bare: scene.loadFor(SECONDS, bare),
      records: scene.loadFor(SECONDS, records),
    },
    ROUNDS,
  );
  const requests = loads.service.reduce((sum, load) => sum + load.requests, 0);
  const perCore = (requests * 1_000) / (processorMs(service.pid) - beforeMs);
  reporter.add({
    ...rateResult(loads.service, loads.bare, null),
    perCore: `${Math.round(perCore)}/s`,
    name: `lookups of ${PEOPLE} people, ${CONNECTIONS} connections, ${name}`,
  });
  reporter.add({
    ...rateResult(loads.service, loads.records, { atLeast }),
    name: `lookups, against durable records alone, ${name}`,
  });
  reporter.add({
    ...p99Result(loads.service, loads.records, null),
    name: `lookups, 99th percentile, against durable records alone, ${name}`,
  });
  const steadyMs = await steadyP95Ms(service, STEADY);
  const floorMs = await steadyP95Ms(records, STEADY);
  reporter.add({
    name: `lookups, ${STEADY.perSecond} a second, 95th percentile, ${name}`,
    ours: `${steadyMs.toFixed(1)} ms`,
    other: `${floorMs.toFixed(1)} ms`,
    ratio: steadyMs / floorMs,
    bar: null,
  });
}

function rateResult(ours: Loads, other: Loads, bar: BenchResult["bar"]): Omit<BenchResult, "name"> {
  return {
    ours: rateText(ours),
    other: rateText(other),
    ratio: ratioOf("perSecond", ours, other),
    bar,
  };
}

function p99Result(ours: Loads, other: Loads, bar: BenchResult["bar"]): Omit<BenchResult, "name"> {
  return { ours: p99Text(ours), other: p99Text(other), ratio: ratioOf("p99Ms", ours, other), bar };
}

async function loadRequests(scene: LookupScene, target: Target, requests: number): Promise<void> {
  for (let done = 0; done < requests; ) {
    const load = await loadWithWrk(target, { folder: scene.folder, seconds: WARM_SECONDS });
    done += load.requests;
  }
}

async function startFloor(
  scene: LookupScene,
  { body, key, label }: LookupService,
  path: string,
): Promise<Server & Target> {
  const server = await startServer({
    command: process.execPath,
    args: [path],
    env: {
      FLOOR_TARGET: body,
      FLOOR_FOLDER: scene.folder,
      FLOOR_DATABASE: scene.store.storageUrl(label),
    },
    logFile: "/dev/null",
    findUrl: (line) => / is listening on (\S+)$/.exec(line)?.[1] ?? null,
  });
  const target = { ...scene.keep(server), key };
  await scene.loadFor(SECONDS, target)();
  return target;
}
