// The least work that answers a pull or a push: bare library calls behind Bun.serve.
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { GZIP_LEVEL } from "../../../src/domain/shared/limits.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { type BenchRow, TABLES } from "../bench-rows.ts";

/** The table that is served. */
export const TABLE_NAME = process.env.FLOOR_TABLE ?? "";

export const TABLE_ENTRY = TABLES[TABLE_NAME] as TableEntry;

/** Its columns in registry order. */
export const COLUMN_NAMES = Object.keys(TABLE_ENTRY.columns) as readonly (keyof BenchRow)[];

/** A store by the bare calls of its library. */
export interface FloorStore {
  /** The rows right after the one with this time; from the first on when null. */
  readPage(after: string | null, limitRows: number): Promise<readonly object[]> | readonly object[];
  /** Upserts in one transaction. */
  write(rows: readonly BenchRow[]): Promise<void> | void;
}

/** Serves the floor on a free port and prints its address. */
export function serveFloor(store: FloorStore): void {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch: (request) => (request.method === "GET" ? pull(store, request) : push(store, request)),
  });
  console.log(`floor is listening on ${server.url.origin}`);
}

async function pull(store: FloorStore, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const records = await store.readPage(query.get("after"), Number(query.get("limit")));
  const bytes = Buffer.from(JSON.stringify({ records }));
  const checksum = createHash("sha256").update(bytes).digest("hex");
  return new Response(gzipSync(bytes, { level: GZIP_LEVEL }), {
    headers: {
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
      "X-Content-SHA256": checksum,
    },
  });
}

async function push(store: FloorStore, request: Request): Promise<Response> {
  const bytes = gunzipSync(await request.arrayBuffer());
  const checksum = createHash("sha256").update(bytes).digest("hex");
  if (checksum !== request.headers.get("x-content-sha256"))
    return new Response(null, { status: 422 });
  const { records } = JSON.parse(bytes.toString()) as { records: BenchRow[] };
  await store.write(records);
  return Response.json({ upserted: records.length });
}
