// Two kinds of load: as much as 64 connections take, and a steady number of requests a second.
import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PEOPLE, personName } from "./lookup-scene.ts";

/** Connections of `wrk`. */
export const CONNECTIONS = 64;
const TICK_MS = 10;
const LATE_PART = 0.95;

/** What is asked, and with which key. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

/** What `wrk` measured. */
export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** False when `wrk` is missing. */
export function hasWrk(): boolean {
  try {
    execFileSync("wrk", ["--version"], { stdio: "ignore" });
  } catch (error) {
    return (error as { code?: string }).code !== "ENOENT";
  }
  return true;
}

/** Looks up one person after the other, at random, over all connections for some seconds. */
export async function loadWithWrk(
  { url, key }: Target,
  { folder, seconds }: { readonly folder: string; readonly seconds: number },
): Promise<Load> {
  const script = join(folder, "lookups.lua");
  writeFileSync(script, LUA);
  const flags = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "--latency", "-s", script];
  const { stdout } = await promisify(execFile)("wrk", [...flags, "-H", `X-API-Key: ${key}`, url]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`Some requests failed: ${stdout}`);
  const [, value = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? [];
  const scale = { us: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN;
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p99Ms: Number(value) * scale,
  };
}

/** Sends so many requests a second, whatever the replies do; returns the 95th percentile of their times. */
export async function steadyP95Ms(
  { url, key }: Target,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<number> {
  const timesMs: number[] = [];
  const ask = async (dueMs: number) => {
    const name = personName(Math.floor(Math.random() * PEOPLE));
    const headers = { "X-API-Key": key };
    const reply = await fetch(`${url}/v1/public/profiles/${name}/reputation`, { headers });
    await reply.arrayBuffer();
    if (reply.status !== 200) throw new Error(`A lookup answered ${reply.status}`);
    timesMs.push(performance.now() - dueMs);
  };
  const asked: Promise<void>[] = [];
  const beganMs = performance.now();
  const total = perSecond * seconds;
  while (asked.length < total) {
    const due = ((performance.now() - beganMs) / 1_000) * perSecond;
    while (asked.length < Math.min(due, total)) {
      asked.push(ask(beganMs + (asked.length / perSecond) * 1_000));
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(asked);
  return timesMs.sort((a, b) => a - b)[Math.floor(timesMs.length * LATE_PART)] ?? Number.NaN;
}

const LUA = `
local paths = {}
init = function(args)
  for i = 0, ${PEOPLE - 1} do
    paths[i] = wrk.format("GET", "/v1/public/profiles/person-" .. i .. "/reputation")
  end
end
request = function() return paths[math.random(0, ${PEOPLE - 1})] end
`;
