// The one client that asks every server. It does little, as its time is part of every measurement.
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { type PushedRows, TABLE_NAME } from "./bench-rows.ts";

/** `SYNC_API_KEY` of every service that is measured. */
export const SYNC_KEY = "bench-key";

/** A page as it arrived, not decompressed. */
export interface RawPage {
  readonly bytes: Uint8Array;
  readonly checksum: string | null;
}

/** A record of a page. */
export type OpenRow = Readonly<Record<string, unknown>>;

/** Asks for a page; the query is what the asked server understands. */
export async function pullPage(url: string, query: string, table = TABLE_NAME): Promise<RawPage> {
  const response = await fetch(`${url}/api/v1/sync/pull/${table}?${query}`, {
    headers: { "X-Sync-Key": SYNC_KEY },
    decompress: false,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`Pull answered ${response.status}: ${text(bytes)}`);
  return { bytes, checksum: response.headers.get("x-content-sha256") };
}

/** Sends a push. Throws unless all of its rows were written. */
export async function pushRows(
  url: string,
  body: PushedRows,
  {
    table = TABLE_NAME,
    headers = {},
  }: { readonly table?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const response = await fetch(`${url}/api/v1/sync/push/${table}`, {
    method: "POST",
    headers: {
      "X-Sync-Key": SYNC_KEY,
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
      "X-Content-SHA256": body.checksum,
      ...headers,
    },
    body: body.gzipped,
  });
  const result = (await response.json()) as { upserted?: number; kept?: number };
  const written = Number(result.upserted) - (result.kept ?? 0);
  if (response.status === 200 && written === body.rows) return;
  throw new Error(`Push answered ${response.status}: ${JSON.stringify(result).slice(0, 500)}`);
}

/** The records of a page. Throws when its checksum is wrong. Never part of a measurement. */
export function openPage({ bytes, checksum }: RawPage): OpenRow[] {
  const json = gunzipSync(bytes);
  const actual = createHash("sha256").update(json).digest("hex");
  if (actual !== checksum) throw new Error(`The page's checksum is ${checksum}, not ${actual}`);
  return JSON.parse(json.toString()).records;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).slice(0, 500);
}
