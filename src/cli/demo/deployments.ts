// The deployments of the demo: each is the real service in a process of its own. Their credentials, and requests to them as of
// any client.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fromWire } from "../../domain/shared/wire-names.ts";
import type { RunEvent } from "../../domain/sync/run/run.ts";
import type { Output } from "../output.ts";

export type DemoSettings = Readonly<Record<string, string>>;

export interface DemoDeployment {
  readonly url: string;
  readonly settings: DemoSettings;
}

export type Deployments = Readonly<Record<"local" | "production" | "copy", DemoDeployment>>;

export interface Stage {
  readonly output: Output;
  /** Temporary. */
  readonly folder: string;
}

/** `SYNC_API_KEY` of all deployments. */
export const SYNC_KEY = "demo-sync-key";
/** `ADMIN_USERNAME` and `ADMIN_PASSWORD` of all deployments. */
export const ADMINISTRATOR = { username: "admin", password: "demo-admin-password" };

type HeaderFields = Readonly<Record<string, string>>;

/** Signs in, by default as the administrator, and returns the header for further requests. */
export async function bearerHeader(
  url: string,
  { username, password } = ADMINISTRATOR,
): Promise<HeaderFields> {
  const request = { method: "POST", body: { username, password } } as const;
  const { token } = await callData<Record<"token", string>>(`${url}/v1/sessions`, request);
  return { Authorization: `Bearer ${token}` };
}

interface ApiRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: HeaderFields;
  readonly body?: object;
  readonly expect?: number;
}

/** Sends a request and parses its reply. Throws with its text for another status than `expect`. */
export async function callApi<Body>(url: string, request: ApiRequest): Promise<Body> {
  const response = await send(url, request);
  return (await response.json()) as Body;
}

/** The `data` of a reply of the reputation interface.. */
export async function callData<Data>(url: string, request: ApiRequest): Promise<Data> {
  return (await callApi<Record<"data", Data>>(url, request)).data;
}

/** Events of a run that the request starts. S-6. */
export async function* readEvents(
  url: string,
  request: ApiRequest,
): AsyncGenerator<RunEvent, void, undefined> {
  const response = await send(url, { method: "POST", ...request });
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      if (!message.startsWith("data: ")) continue;
      yield fromWire(JSON.parse(message.slice("data: ".length))) as unknown as RunEvent;
    }
  }
}

async function send(url: string, request: ApiRequest): Promise<Response> {
  const { method = "GET", headers = {}, body, expect = 200 } = request;
  const response = await fetch(url, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status === expect) return response;
  const path = new URL(url).pathname;
  throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
}

const MAIN = fileURLToPath(new URL("../../app/main.ts", import.meta.url));
/** Nothing else: settings of this machine's own deployment would change the demo. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "TZ", "SYSTEMROOT"];

/** A deployment as a process on a free port. */
export class Service {
  /** Rejects when the process does not start; its stderr says why. */
  readonly url: Promise<string>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** `folder` holds no `.env`. */
  constructor(folder: string, settings: DemoSettings) {
    this.#child = spawn(process.execPath, [...process.execArgv, MAIN], {
      cwd: folder,
      env: childEnvironment({
        HOST: "127.0.0.1",
        PORT: "0",
        // The demo reports failures itself, and log lines at Ctrl-C would break progress bars.
        LOG_LEVEL: "silent",
        ...settings,
      }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#ended = once(this.#child, "exit");
    // Stops the process however the demo ends.
    const kill = () => this.#child.kill("SIGTERM");
    process.once("exit", kill);
    void this.#ended.then(() => process.off("exit", kill));
    this.url = listening(this.#child, this.#ended);
  }

  /** Stops gracefully; resolves at the end. Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }
}

/** Its settings, and what every program needs. */
export function childEnvironment(settings: DemoSettings): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.includes(name));
  return { ...Object.fromEntries(inherited), ...settings };
}

/** The first address that the process prints. */
async function listening(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  for await (const line of child.stdout ? createInterface({ input: child.stdout }) : []) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  await ended;
  throw new Error(`A deployment did not start: exit code ${child.exitCode}`);
}
