// The real service for a test: composed as `main.ts` composes it, behind a real server on a free port.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BunPasswordHasher } from "../../../src/adapters/bun/bun-password-hasher.ts";
import { SystemClock, SystemTimer } from "../../../src/adapters/system/system.ts";
import { compose } from "../../../src/app/compose.ts";
import type { Environment } from "../../../src/app/config.ts";
import { readConfig } from "../../../src/app/config.ts";
import { serverOfRuntime } from "../../../src/app/process.ts";
import type { TimeDeps } from "../../../src/app/services.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { keepResource } from "../../support/resources.ts";
import type { Backend } from "./backends.ts";
import { gunzip, gzip, sha256, textOf } from "./bytes.ts";
import { checkReply } from "./check-reply.ts";
import { makeTempFolder } from "./make-temp-folder.ts";
import { type RawReply, rawExchange } from "./raw-http.ts";
import { TABLES } from "./tables.ts";

/** Real time, and hashes that cost next to nothing: what they cost else is tested with their adapter. */
const QUICK: TimeDeps = {
  clock: new SystemClock(),
  timer: new SystemTimer(),
  passwords: new BunPasswordHasher({ memoryCost: 8, timeCost: 1 }),
};

/** The key of every service that the tests start. */
export const SYNC_KEY = "correct horse battery staple";

/** Any JSON object, as parsed. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** A reply, checked against the OpenAPI document. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came over the wire. */
  readonly wire: Uint8Array;
  /** The body, decompressed. */
  readonly text: string;
  /** The body parsed; throws when it is not a JSON object. */
  readonly json: JsonFields;
}

/** What a request may have beside its path. */
export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream;
}

/** A deployment that listens. */
export interface SyncApp extends SyncClient {
  /** Ends its runs, and lets none begin, while it goes on to listen. */
  stopRuns(): Promise<void>;
  /** Where its registry is written down, which it looks at every 5 seconds and at `lookAtRegistry`. */
  readonly tablesFile: string;
  lookAtRegistry(): Promise<void>;
  /** Takes no further request. */
  drain(): Promise<number>;
  /** Stops it before the test ends. */
  stop(): Promise<void>;
}

/** Requests to a deployment, in this process or another. Every reply is checked. */
export interface SyncClient {
  readonly url: string;
  /** One request, without key unless given. */
  send(path: string, options?: RequestOptions): Promise<Reply>;
  /** A pull with the key. */
  pull(tableName: string, query?: string): Promise<Reply>;
  /** The records of a pull. */
  records(tableName: string, query?: string): Promise<readonly JsonFields[]>;
  /** A plain push with the key; a body that is no text is written as JSON. */
  push(
    tableName: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** A push with gzip and checksum, unless `headers` says otherwise. */
  pushGzip(
    tableName: string,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** One request as bytes over a socket, its reply checked unless the server itself refused it. */
  raw(request: string | Uint8Array): Promise<RawReply>;
}

/** Starts a deployment with sync enabled; `env` has the last word. It is stopped after the test. */
export async function startApp(
  options: {
    readonly env?: Environment;
    readonly tables?: Readonly<Record<string, TableEntry>>;
    readonly backend?: Backend;
    /** Real time when absent. */
    readonly time?: TimeDeps;
    readonly idleTimeoutSeconds?: number;
  } = {},
): Promise<SyncApp> {
  const tablesFile = join(makeTempFolder(), "tables.json");
  writeFileSync(tablesFile, JSON.stringify({ tables: options.tables ?? TABLES }));
  const env = {
    STORAGE_URL: (await options.backend?.makeUrl()) ?? "sqlite::memory:",
    SYNC_ENABLED: "true",
    SYNC_API_KEY: SYNC_KEY,
    SYNC_TABLES: tablesFile,
    LOG_LEVEL: "silent",
    PORT: "0",
    ...options.env,
  };
  const config = readConfig(env, (path) => readFileSync(path, "utf8"));
  const deployment = await compose(config, { ...QUICK, ...options.time });
  const { idleTimeoutSeconds } = options;
  const startServer = await serverOfRuntime();
  const server = await startServer(deployment.handler, {
    host: config.host,
    port: config.port,
    ...(idleTimeoutSeconds === undefined ? {} : { idleTimeoutSeconds }),
  });
  let isRunning = true;
  const stop = async () => {
    if (!isRunning) return;
    isRunning = false;
    await server.stop(0);
    await deployment.close();
  };
  keepResource(stop);
  return {
    ...makeClient(server.url),
    stop,
    tablesFile,
    lookAtRegistry: () => deployment.lookAtRegistry(),
    stopRuns: () => deployment.stopRuns(1_000),
    drain: () => deployment.drain(0),
  };
}

/** Requests to the deployment at an address. */
export function makeClient(url: string, key: string = SYNC_KEY): SyncClient {
  const keyHeader = { "X-Sync-Key": key };
  const client: SyncClient = {
    url,
    send: (path, options = {}) => send(url, path, options),
    pull: (tableName, query = "") =>
      send(url, `/api/v1/sync/pull/${tableName}${query}`, { headers: keyHeader }),
    records: async (tableName, query) =>
      (await client.pull(tableName, query)).json["records"] as readonly JsonFields[],
    push: (tableName, body, headers = {}) =>
      send(url, `/api/v1/sync/push/${tableName}`, {
        method: "POST",
        headers: { ...keyHeader, "Content-Type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    pushGzip: (tableName, body, headers = {}) =>
      send(url, `/api/v1/sync/push/${tableName}`, {
        method: "POST",
        headers: {
          ...keyHeader,
          "Content-Encoding": "gzip",
          "X-Content-SHA256": sha256(body),
          ...headers,
        },
        body: gzip(body),
      }),
    raw: (request) => sendRaw(url, request),
  };
  return client;
}

async function send(url: string, path: string, options: RequestOptions): Promise<Reply> {
  const { method = "GET", headers = {}, body } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    decompress: false,
    ...(body === undefined ? {} : { body }),
  });
  const wire = await response.bytes();
  const isGzip = response.headers.get("content-encoding") === "gzip" && method !== "HEAD";
  const text = textOf(isGzip ? gunzip(wire) : wire);
  const { status } = response;
  // The path as `fetch` sends it.
  const { pathname } = new URL(`${url}${path}`);
  await checkReply(url, { method, path: pathname, status, headers: response.headers, body: text });
  return {
    ...{ status, headers: response.headers, wire, text },
    get json() {
      return JSON.parse(text) as JsonFields;
    },
  };
}

async function sendRaw(url: string, request: string | Uint8Array): Promise<RawReply> {
  const reply = await rawExchange(url, request);
  // What the runtime's server refuses never comes to ours.
  if (!reply.headers.has("x-request-id")) return reply;
  const text = typeof request === "string" ? request : Buffer.from(request).toString("latin1");
  const [, method = "", path = ""] = /^(\S+) (?:[a-z]+:\/\/[^/]*)?([^\s?#]*)/i.exec(text) ?? [];
  const isGzip = reply.headers.get("content-encoding") === "gzip" && reply.body.length > 0;
  const body = textOf(isGzip ? gunzip(reply.body) : reply.body);
  const { status, headers } = reply;
  // As the runtime resolves it. D-3.11.1.
  const { pathname } = new URL(`${url}${path}`);
  await checkReply(url, { method, path: pathname, status, headers, body });
  return reply;
}

/** A request as text for `raw`, with the key, a Host and what else is given. */
export function requestText(line: string, headers: readonly string[] = [], body = ""): string {
  const key = `X-Sync-Key: ${SYNC_KEY}`;
  return [`${line} HTTP/1.1`, "Host: localhost", key, ...headers, "", body].join("\r\n");
}
