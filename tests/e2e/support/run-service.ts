// Services as processes that run syncs, and what a test sees of both ends.
import { ADMIN_ENV, Person } from "../../http/reputation/people.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import type { JsonFields } from "../../http/support/sync-app.ts";
import { SYNC } from "../../http/sync-runs/support/run-apps.ts";
import { freePort } from "./free-port.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

/** The table that the tests move. Pushes and pulls take turns, so an older version must not replace a newer one. */
export const ITEMS = {
  items: {
    timestamp_column: "updated_at",
    conflict: "newer",
    upsert_key: ["owner", "number"],
    columns: {
      owner: { type: "text" },
      number: { type: "integer" },
      body: { type: "text" },
      updated_at: { type: "datetime" },
    },
  },
} as const;

/** A service that can be killed and started again, at the same address on the same store. */
export interface RunService {
  readonly url: string;
  /** The process that runs now. */
  process(): ServiceProcess;
  start(): Promise<void>;
  /** `kill -9`, and its end. */
  kill(): Promise<void>;
  /** A request of the administrator. */
  ask(path: string, body?: object): Promise<Response>;
  /** The text of a stream as it comes; ends when the service does. */
  stream(body: object): AsyncGenerator<string, void, undefined>;
  /** Every row as text, sorted. */
  rows(): Promise<readonly string[]>;
  push(records: readonly JsonFields[]): Promise<void>;
}

/** Makes a service of its own folder; `start` starts it. */
export async function makeRunService(
  env: Readonly<Record<string, string>> = {},
): Promise<RunService> {
  const folder = makeTempFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let current: ServiceProcess | null = null;
  let token = "";
  const running = () => {
    if (current === null) throw new Error("The service was not started");
    return current;
  };
  const request = (path: string, body?: object) =>
    fetch(`${url}${SYNC}${path}`, {
      headers: { Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  return {
    url,
    process: running,
    async start() {
      const all = {
        ...ADMIN_ENV,
        ACCOUNT_WRITES_PER_MINUTE: "10000",
        PORT: String(port),
        SYNC_MAX_BATCH_SIZE: "50",
        ...env,
      };
      current = await startService({ folder, tables: ITEMS, env: all });
      token ||= (await Person.signIn(current, "root")).token;
    },
    async kill() {
      running().kill("SIGKILL");
      await running().ended;
    },
    ask: request,
    async *stream(body) {
      const response = await request("/trigger-sse", body);
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) yield decoder.decode(chunk);
    },
    async rows() {
      const texts: string[] = [];
      for (let offset: unknown = 0; offset !== null; ) {
        const { json } = await running().pull("items", `?limit=5000&offset=${offset}`);
        texts.push(...(json["records"] as JsonFields[]).map((row) => JSON.stringify(row)));
        offset = json["next_offset"];
      }
      return texts.sort();
    },
    async push(records) {
      const { status, text } = await running().push("items", { records });
      if (status !== 200 || text.includes("error")) throw new Error(text);
    },
  };
}

/** `count` rows of an owner, in one version; the time of a version is the same for a tenth of them. */
export function itemsOf(owner: string, version: number, count: number): JsonFields[] {
  const hour = String(version % 24).padStart(2, "0");
  const day = String(1 + Math.floor(version / 24)).padStart(2, "0");
  return Array.from({ length: count }, (_, number) => {
    const second = String(Math.floor((number * 10) / count)).padStart(2, "0");
    const updated_at = `2026-01-${day}T${hour}:00:${second}Z`;
    return { owner, number, body: `version ${version}`, updated_at };
  });
}
