// Deployments that run syncs, and their administrator.

import type { Environment } from "../../../../src/app/config.ts";
import type { TimeDeps } from "../../../../src/app/services.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { ADMIN_ENV, jsonBody, Person } from "../../reputation/people.ts";
import type { Backend } from "../../support/backends.ts";
import {
  type JsonFields,
  type Reply,
  type RequestOptions,
  type SyncApp,
  startApp,
} from "../../support/sync-app.ts";

/** Where the endpoints of runs are. */
export const SYNC = "/api/v1/sync";

/** An event of a stream. */
export type StreamEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** A deployment with somebody who may run syncs on it. */
export interface RunApp extends SyncApp {
  readonly admin: Person;
  /** A request of the administrator. */
  ask(path: string, options?: RequestOptions): Promise<Reply>;
  /** `POST /trigger`. */
  trigger(body?: object): Promise<Reply>;
  /** The events of `POST /trigger-sse`, to the last. */
  stream(body: object): Promise<readonly StreamEvent[]>;
  /** The items of a list. */
  items(path: string): Promise<readonly JsonFields[]>;
  /** Every row of a table by its key, without the numbering. */
  rows(tableName: string): Promise<readonly JsonFields[]>;
  /** The last-sync markers. */
  markers(): Promise<Readonly<Record<string, string>>>;
}

/** What a deployment is started with. */
export interface RunAppOptions {
  readonly env?: Environment;
  readonly tables?: Readonly<Record<string, TableEntry>>;
  readonly backend?: Backend;
  readonly time?: TimeDeps;
  readonly idleTimeoutSeconds?: number;
}

/** Starts a deployment, stopped after the test. */
export async function startRunApp(options: RunAppOptions = {}): Promise<RunApp> {
  const app = await startApp({ ...options, env: { ...ADMIN_ENV, ...options.env } });
  const admin = await Person.signIn(app, "root");
  const ask = (path: string, options?: RequestOptions) => admin.send(`${SYNC}${path}`, options);
  return {
    ...{ ...app, admin, ask },
    trigger: (body = {}) => ask("/trigger", jsonBody(body)),
    stream: async (body) => readEvents(await ask("/trigger-sse", jsonBody(body))),
    items: async (path) => (await ask(path)).json["items"] as JsonFields[],
    async rows(tableName) {
      const records: JsonFields[] = [];
      for (let offset: unknown = 0; offset !== null; ) {
        const { json } = await app.pull(tableName, `?limit=5000&offset=${offset}`);
        records.push(...(json["records"] as JsonFields[]));
        offset = json["next_offset"];
      }
      return records
        .map(({ id: _, ...rest }) => rest)
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    },
    markers: async () =>
      (await app.send(`${SYNC}/status`)).json["last_sync"] as Record<string, string>,
  };
}

/** Starts a deployment and the one it syncs with. */
export async function startPair(
  options: RunAppOptions & { readonly remoteEnv?: Environment } = {},
): Promise<{ readonly local: RunApp; readonly remote: RunApp }> {
  const { env, remoteEnv = {}, ...rest } = options;
  const remote = await startRunApp({ ...rest, env: remoteEnv });
  const local = await startRunApp({ ...rest, env: { SYNC_REMOTE_URL: remote.url, ...env } });
  return { local, remote };
}

/** The events of a stream that has ended. Throws when its reply is none. */
export function readEvents(reply: Reply): readonly StreamEvent[] {
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
  return reply.text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice("data: ".length)) as StreamEvent);
}

/** The same for the table `versions`, which has a time. */
export function versions(count: number, prefix = "n"): JsonFields[] {
  return notes(count, prefix).map((note) => ({ ...note, at: "2026-01-01T00:00:00Z" }));
}

/** `count` notes named `<prefix>0000` and so on. */
export function notes(count: number, prefix = "n"): JsonFields[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `${prefix}${String(i).padStart(4, "0")}`;
    return { name, body: `body of ${name}` };
  });
}
