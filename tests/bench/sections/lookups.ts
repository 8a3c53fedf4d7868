import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "../alternate.ts";
import { residentBytes, type Server, startServer } from "../child-process.ts";
import type { Reporter } from "../result.ts";
import { ADMIN, type BenchStore } from "../stores.ts";

const FLOOR = fileURLToPath(new URL("../floors/lookup-floor.ts", import.meta.url));
const CONNECTIONS = 64;
const ROUNDS = 3;
const SECONDS = 5;
const PATH = "/v1/public/profiles/ana/reputation";
const PASSWORD = "bench-password";
const BAR = { SQLite: 0.4, MongoDB: null };
const MAX_P99_MS = 15;

/** What one run of wrk measured. */
interface Load {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** Lookups of one person by one key over 64 connections, against a bare route that returns the same bytes. */
export async function benchLookups(store: BenchStore, reporter: Reporter): Promise<void> {
  if (!hasWrk()) {
    reporter.say("  Left out: there is no wrk on the PATH (apt-get install wrk)");
    return;
  }
  const service = await store.startService("lookups");
  try {
    const key = await setScene(service.url);
    const reply = await fetch(`${service.url}${PATH}`, { headers: { "X-API-Key": key } });
    if (reply.status !== 200) throw new Error(`A lookup answered ${reply.status}`);
    const floor = await startFloor(await reply.text());
    try {
      await compare({ store, reporter, service, floor, key });
    } finally {
      await floor.stop();
    }
  } finally {
    await service.stop();
  }
}

async function compare(of: {
  readonly store: BenchStore;
  readonly reporter: Reporter;
  readonly service: Server;
  readonly floor: Server;
  readonly key: string;
}): Promise<void> {
  const { store, reporter, service, floor, key } = of;
  const ours: Load[] = [];
  const other: Load[] = [];
  await load(service.url, key);
  await load(floor.url, key);
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await load(service.url, key));
    other.push(await load(floor.url, key));
  }
  const rateOf = (loads: readonly Load[]) => median(loads.map(({ perSecond }) => perSecond));
  const p99Of = (loads: readonly Load[]) => median(loads.map(({ p99Ms }) => p99Ms));
  const bar = BAR[store.name];
  reporter.add({
    name: `lookups, ${CONNECTIONS} connections, ${store.name}`,
    ours: `${Math.round(rateOf(ours))}/s`,
    other: `${Math.round(rateOf(other))}/s`,
    ratio: rateOf(ours) / rateOf(other),
    bar: bar === null ? null : { atLeast: bar },
  });
  reporter.add({
    name: `lookups, p99, ${store.name}`,
    ours: `${p99Of(ours).toFixed(1)} ms`,
    other: `${MAX_P99_MS} ms allowed`,
    ratio: p99Of(ours) / MAX_P99_MS,
    bar: bar === null ? null : { atMost: 1 },
  });
  reporter.say(`  resident after it: ${Math.round(residentBytes(service.pid) / 1_000_000)} MB`);
}

/** One person who consented, and a key that no limit stops. */
async function setScene(url: string): Promise<string> {
  const send = async (path: string, body: object, { token = "", method = "POST" } = {}) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const init = { method, body: JSON.stringify(body), headers };
    const reply = await fetch(`${url}${path}`, init);
    if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
    return ((await reply.json()) as { data: Record<string, string> }).data;
  };
  const ana = { username: "ana", password: PASSWORD };
  await send("/v1/signup", { ...ana, email: "ana@example.com" });
  const { token = "" } = await send("/v1/sessions", ana);
  const admin = await send("/v1/sessions", ADMIN);
  const plan = { plan: "enterprise", rate_limit_per_minute: 999_999_999 };
  await send("/v1/admin/accounts/ana/plan", plan, { token: admin["token"] ?? "", method: "PUT" });
  await send("/v1/me/consents", { purpose: "reputation_lookup" }, { token });
  return (await send("/v1/me/api-keys", { name: "bench" }, { token }))["key"] ?? "";
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

async function load(url: string, key: string): Promise<Load> {
  const flags = ["-t1", `-c${CONNECTIONS}`, `-d${SECONDS}s`, "--latency"];
  const args = [...flags, "-H", `X-API-Key: ${key}`, `${url}${PATH}`];
  const { stdout } = await promisify(execFile)("wrk", args);
  if (/Non-2xx/.test(stdout)) throw new Error(`Some requests failed: ${stdout}`);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  const [, value = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  const scale = { us: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN;
  return { perSecond, p99Ms: Number(value) * scale };
}

function hasWrk(): boolean {
  try {
    execFileSync("wrk", ["--version"], { stdio: "ignore" });
  } catch (error) {
    return (error as { code?: string }).code !== "ENOENT";
  }
  return true;
}
