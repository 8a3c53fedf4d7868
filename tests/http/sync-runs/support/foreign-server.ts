// Another implementation of the table synchronization document, as small as the document allows and made from it alone:
// nothing here comes from `src`. Rows with the same timestamp come in another order each time, and datetimes are written
// without zone and with six fraction digits.
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { keepResource } from "../../../support/resources.ts";

/** A row by column name. */
export type ForeignRow = Record<string, unknown>;

/** A table of the registry: `__all__` on conflict. */
export interface ForeignTable {
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly timestamp: string | null;
}

/** A reply before it is sent. */
export interface ForeignReply {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** A request, for whoever wants to answer it in another way. */
export interface ForeignRequest {
  readonly method: string;
  /** Below `/api/v1/sync`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a test may change of a server. */
export interface ForeignOptions {
  readonly key: string;
  readonly tables: Readonly<Record<string, ForeignTable>>;
  /** 0 up to below 1. */
  readonly random: () => number;
  /** Greatest page. */
  readonly maxRows?: number;
  /** Changes a reply, or gives another one. */
  tamper?(request: ForeignRequest, reply: ForeignReply): ForeignReply | Response;
}

/** A server that listens. */
export interface ForeignServer {
  readonly url: string;
  /** Requests so far, such as `GET /pull/notes`. */
  readonly seen: readonly string[];
  /** Rows in any order. */
  rows(table: string): readonly ForeignRow[];
  /** Writes a row as a program beside the service would. */
  put(table: string, row: ForeignRow): void;
}

/** Starts a server, stopped after the test. */
export function startForeignServer(options: ForeignOptions): ForeignServer {
  const stored = new Map(
    Object.keys(options.tables).map((name) => [name, new Map<string, ForeignRow>()]),
  );
  const seen: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, searchParams: query } = new URL(request.url);
      const path = pathname.replace("/api/v1/sync", "");
      seen.push(`${request.method} ${path}`);
      const reply = await answer(options, stored, { request, path, query });
      const sent = options.tamper?.({ method: request.method, path, query }, reply) ?? reply;
      return sent instanceof Response ? sent : encode(sent);
    },
  });
  keepResource(() => server.stop(true));
  return {
    url: server.url.origin,
    seen,
    rows: (table) => [...(stored.get(table)?.values() ?? [])],
    put(name, row) {
      const table = options.tables[name];
      if (table !== undefined) write(table, stored.get(name) as Rows, row);
    },
  };
}

type Rows = Map<string, ForeignRow>;

async function answer(
  options: ForeignOptions,
  stored: ReadonlyMap<string, Rows>,
  { request, path, query }: { request: Request; path: string; query: URLSearchParams },
): Promise<ForeignReply> {
  if (path === "/status") return ok(status(options, stored));
  const [, action, name = ""] = path.split("/");
  if (action !== "pull" && action !== "push") return failure(404, "not found");
  if (request.headers.get("X-Sync-Key") !== options.key) return failure(401, "bad key");
  const table = options.tables[name];
  const rows = stored.get(name);
  if (table === undefined || rows === undefined) return failure(400, `unknown table ${name}`);
  if (action === "pull") return ok(pull(options, { name, table, rows, query }));
  return push(request, { name, table, rows });
}

function ok(body: unknown): ForeignReply {
  return { status: 200, body, headers: {} };
}

function failure(status: number, error: string): ForeignReply {
  return { status, body: { error }, headers: {} };
}

/** S-4.1.4 to S-4.1.6. */
function encode({ status, body, headers }: ForeignReply): Response {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const sha = createHash("sha256").update(bytes).digest("hex");
  const plain = { "Content-Type": "application/json", "X-Content-SHA256": sha, ...headers };
  if (bytes.length < 1024) return new Response(bytes, { status, headers: plain });
  const compressed = gzipSync(bytes, { level: 6 });
  const gzipHeaders = { "Content-Encoding": "gzip", "X-Original-Size": String(bytes.length) };
  return new Response(compressed, { status, headers: { ...plain, ...gzipHeaders } });
}

/** S-2.5. */
function status(options: ForeignOptions, stored: ReadonlyMap<string, Rows>) {
  return {
    sync_enabled: true,
    tables: Object.keys(options.tables),
    table_counts: Object.fromEntries([...stored].map(([name, rows]) => [name, rows.size])),
    last_sync: {},
    server_time: foreignTime(Date.now()),
    features: { gzip: true, sha256: true, incremental: true },
  };
}

/** S-2.2, S-4.1. */
function pull(
  { random, maxRows = 5000 }: ForeignOptions,
  asked: {
    readonly name: string;
    readonly table: ForeignTable;
    readonly rows: Rows;
    readonly query: URLSearchParams;
  },
) {
  const { name, table, rows, query } = asked;
  const since = query.get("since");
  const sinceMicros = since === null ? null : micros(since);
  const timeOf = (row: ForeignRow) => (table.timestamp === null ? 0 : micros(row[table.timestamp]));
  const shuffled = [...rows.values()]
    .map((row) => ({ row, at: timeOf(row) ?? -1, lot: random() }))
    .filter(({ at }) => sinceMicros === null || table.timestamp === null || at >= sinceMicros)
    .sort((a, b) => a.at - b.at || a.lot - b.lot);
  const offset = whole(query.get("offset"), 0);
  const limit = Math.min(maxRows, whole(query.get("limit"), 1000));
  const records = shuffled.slice(offset, offset + limit).map(({ row }) => row);
  const total = shuffled.length;
  const has_more = offset + limit < total;
  const next_offset = has_more ? offset + limit : null;
  return {
    table: name,
    since,
    count: records.length,
    total,
    offset,
    limit,
    has_more,
    next_offset,
    records,
  };
}

/** S-2.4, S-4.2. */
async function push(
  request: Request,
  { name, table, rows }: { name: string; table: ForeignTable; rows: Rows },
): Promise<ForeignReply> {
  let bytes: Uint8Array = await request.bytes();
  const isGzip = /gzip/i.test(request.headers.get("Content-Encoding") ?? "");
  if (isGzip) bytes = gunzipSync(bytes);
  const given = request.headers.get("X-Content-SHA256");
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (isGzip && given !== null && given !== actual) {
    return { status: 422, body: { error: "checksum", type: "integrity_error" }, headers: {} };
  }
  const { records = [] } = JSON.parse(new TextDecoder().decode(bytes)) as {
    records?: ForeignRow[];
  };
  for (const record of records) write(table, rows, record);
  const integrity = given === null ? "no_checksum" : "verified";
  return ok({ table: name, received: records.length, upserted: records.length, integrity });
}

/** S-4.2.7, S-4.2.8 for datetimes. */
function write({ key, columns, timestamp }: ForeignTable, rows: Rows, record: ForeignRow): void {
  const row: ForeignRow = {};
  for (const column of columns) row[column] = record[column] ?? null;
  const at = timestamp === null ? null : micros(row[timestamp]);
  if (timestamp !== null && at !== null) row[timestamp] = foreignTime(at / 1000, at % 1000);
  rows.set(JSON.stringify(key.map((column) => row[column])), row);
}

/** Such as `2026-01-02T03:04:05.000007`. */
function foreignTime(atMs: number, micro = 0): string {
  const text = new Date(Math.floor(atMs)).toISOString().slice(0, -1);
  return `${text}${String(micro).padStart(3, "0")}`;
}

/** Microseconds since 1970; null for what is no datetime. No zone is UTC. */
function micros(value: unknown): number | null {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:\d\d)?$/.exec(
    String(value),
  );
  if (match === null) return null;
  const [, seconds, fraction = "", zone = "Z"] = match;
  return Date.parse(`${seconds}${zone}`) * 1000 + Number(fraction.padEnd(6, "0"));
}

function whole(text: string | null, fallback: number): number {
  return text !== null && /^\d+$/.test(text) ? Number(text) : fallback;
}
