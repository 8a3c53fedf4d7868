// Two kinds of load: as much as 64 connections take, and a steady number of requests a second.
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { lookupPath, PEOPLE, personName } from "./lookup-scene.ts";
import { sized } from "./quick.ts";

/** Connections of `wrk`. */
export const CONNECTIONS = 64;
const TICK_MS = 1;
const LATE_PART = 0.95;
let scripts = 0;

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

/** How long `wrk` asks. */
export interface LoadOptions {
  /** Takes the script of `wrk`. */
  readonly folder: string;
  readonly seconds: number;
  /** `CONNECTIONS` unless said otherwise. */
  readonly connections?: number;
}

/** Looks up one person after the other, at random, over all connections for some seconds. */
export async function loadWithWrk({ url, key }: Target, options: LoadOptions): Promise<Load> {
  const { folder, seconds, connections = CONNECTIONS } = options;
  const script = join(folder, `lookups-${++scripts}.lua`);
  writeFileSync(script, LUA);
  const flags = ["-t1", `-c${connections}`, `-d${sized(seconds, 1)}s`, "--latency", "-s", script];
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

/**
 * Sends so many requests a second, whatever the replies do; returns the 95th percentile of the times from when a request
 * was due to the end of its reply, in milliseconds. Bare connections, as an HTTP client would take more time than it
 * measures.
 */
export async function steadyP95Ms(
  { url, key }: Target,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<number> {
  const { hostname, port } = new URL(url);
  const timesMs: number[] = [];
  const due: number[] = [];
  const idle: Connection[] = [];
  const send = () => {
    // In turns: the service closes a connection that says nothing for long.
    while (due.length > 0 && idle.length > 0) idle.shift()?.ask(due.shift() ?? 0);
  };
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => connectTo(hostname, Number(port), key)),
  );
  for (const connection of connections) {
    connection.onReply = (dueMs) => {
      timesMs.push(performance.now() - dueMs);
      idle.push(connection);
      send();
    };
    idle.push(connection);
  }
  const beganMs = performance.now();
  const total = perSecond * sized(seconds, 1);
  for (let asked = 0; timesMs.length < total; ) {
    const now = Math.min(total, ((performance.now() - beganMs) / 1_000) * perSecond);
    for (; asked < now; asked++) due.push(beganMs + (asked / perSecond) * 1_000);
    send();
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  for (const { socket } of connections) socket.destroy();
  return timesMs.sort((a, b) => a - b)[Math.floor(timesMs.length * LATE_PART)] ?? Number.NaN;
}

interface Connection {
  readonly socket: Socket;
  ask(dueMs: number): void;
  onReply: (dueMs: number) => void;
}

/** One request at a time; a reply that is not 200 ends the measurement. */
async function connectTo(host: string, port: number, key: string): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, "connect");
  let dueMs = 0;
  let text = "";
  const connection: Connection = {
    socket,
    ask(due) {
      dueMs = due;
      const name = personName(Math.floor(Math.random() * PEOPLE));
      socket.write(
        `GET ${lookupPath(name)} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n\r\n`,
      );
    },
    onReply: () => {},
  };
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
    const bodyAt = text.indexOf("\r\n\r\n") + 4;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (bodyAt < 4 || text.length < bodyAt + length) return;
    if (!text.startsWith("HTTP/1.1 200")) throw new Error(`A lookup answered ${text}`);
    text = "";
    connection.onReply(dueMs);
  });
  return connection;
}

const LUA = `
local paths = {}
init = function(args)
  math.randomseed(os.time())
  for i = 0, ${PEOPLE - 1} do
    paths[i] = wrk.format("GET", "/v1/public/profiles/person-" .. i .. "/reputation")
  end
end
request = function() return paths[math.random(0, ${PEOPLE - 1})] end
`;
