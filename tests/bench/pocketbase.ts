// A PocketBase to measure beside: one process with the measured table as a collection. Needs
// go install github.com/pocketbase/pocketbase/examples/base@v0.30.0
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchRow, TABLE_NAME } from "./bench-rows.ts";
import { type Server, startServer } from "./child-process.ts";

const EMAIL = "bench@example.com";
const PASSWORD = "bench-password";
const RECORDS = `/api/collections/${TABLE_NAME}/records`;
const FIELD_TYPES = {
  shop: "text",
  sku: "text",
  title: "text",
  city: "text",
  price: "text",
  views: "number",
  rating: "number",
  active: "bool",
  listed_on: "date",
  updated_at: "date",
};

/** A running PocketBase. */
export interface Pocketbase {
  /** Sends the body that `batchOf` made. */
  push(batch: string): Promise<void>;
  /** Reads a page, from page 1, in the order of `updated_at`. Resolves with the number of rows. */
  pull(page: number, pageRows: number): Promise<number>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** One batch request that upserts rows. */
export function batchOf(rows: readonly BenchRow[]): string {
  const requests = rows.map((row) => ({ method: "PUT", url: RECORDS, body: record(row) }));
  return JSON.stringify({ requests });
}

/** Starts the given program with an empty collection. */
export async function startPocketbase(binary: string): Promise<Pocketbase> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-pocketbase-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const flags = ["--dir", join(folder, "data")];
  execFileSync(binary, ["superuser", "upsert", EMAIL, PASSWORD, ...flags], { cwd: folder });
  const server = await startServer({
    command: binary,
    args: ["serve", `--http=127.0.0.1:${await findFreePort()}`, ...flags],
    env: {},
    logFile: join(folder, "log"),
    findUrl: (line) => /started at (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1] ?? null,
  });
  const stop = async () => {
    await server.stop();
    remove();
    process.off("exit", remove);
  };
  try {
    return { ...(await prepare(server)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepare({ url }: Server): Promise<Omit<Pocketbase, "stop">> {
  const signIn = await send(`${url}/api/collections/_superusers/auth-with-password`, {
    method: "POST",
    body: { identity: EMAIL, password: PASSWORD },
  });
  const token = String(signIn["token"]);
  await send(`${url}/api/settings`, {
    method: "PATCH",
    token,
    body: { batch: { enabled: true, maxRequests: 6_000, timeout: 60 } },
  });
  await send(`${url}/api/collections`, { method: "POST", token, body: collection() });
  return {
    async push(batch) {
      await send(`${url}/api/batch`, { method: "POST", token, body: batch });
    },
    async pull(page, pageRows) {
      const query = `page=${page}&perPage=${pageRows}&sort=updated_at`;
      const response = await fetch(`${url}${RECORDS}?${query}`, {
        headers: { Authorization: token },
      });
      const text = await response.text();
      if (response.status !== 200)
        throw new Error(`PocketBase answered ${response.status}: ${text}`);
      return (JSON.parse(text) as { items: unknown[] }).items.length;
    },
  };
}

/** With the order of the pages in an index, as repsync has it. */
function collection() {
  const fields = Object.entries(FIELD_TYPES).map(([name, type]) => ({ name, type }));
  const indexes = [
    `CREATE UNIQUE INDEX bench_key ON ${TABLE_NAME} (shop, sku)`,
    `CREATE INDEX bench_order ON ${TABLE_NAME} (updated_at, shop, sku)`,
  ];
  return { name: TABLE_NAME, type: "base", fields, indexes };
}

/** PocketBase upserts by `id`, which has 15 characters. */
function record(row: BenchRow) {
  return { ...row, id: `row${row.sku.slice(-8).padStart(12, "0")}` };
}

async function send(
  url: string,
  request: { readonly method: string; readonly body: object | string; readonly token?: string },
): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: request.method,
    headers: { "Content-Type": "application/json", Authorization: request.token ?? "" },
    body: typeof request.body === "string" ? request.body : JSON.stringify(request.body),
  });
  const text = await response.text();
  if (response.ok) return text === "" ? {} : JSON.parse(text);
  throw new Error(`PocketBase answered ${response.status}: ${text.slice(0, 500)}`);
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
