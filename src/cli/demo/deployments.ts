// The deployments of the demo, their credentials, and requests to them as any client would send them.
import type { Output } from "../output.ts";

/** The environment of a process. */
export type DemoSettings = Readonly<Record<string, string>>;

export interface DemoDeployment {
  readonly url: string;
  readonly settings: DemoSettings;
}

export type Deployments = Readonly<Record<"local" | "production" | "copy", DemoDeployment>>;

export interface Stage {
  readonly output: Output;
  /** The demo's temporary folder, removed at the end. */
  readonly folder: string;
}

/** `SYNC_API_KEY` of all deployments. */
export const SYNC_KEY = "demo-sync-key";
/** `ADMIN_USERNAME` and `ADMIN_PASSWORD` of all deployments. */
export const ADMINISTRATOR = { username: "admin", password: "demo-admin-password" };

type HeaderFields = Readonly<Record<string, string>>;

/** Signs in, as the administrator unless another account is named, and returns the header for further requests. */
export async function bearerHeader(
  url: string,
  { username, password } = ADMINISTRATOR,
): Promise<HeaderFields> {
  const request = { method: "POST", body: { username, password } } as const;
  const { token } = await callData<Record<"token", string>>(`${url}/v1/sessions`, request);
  return { Authorization: `Bearer ${token}` };
}

/** An event of a run as the stream writes it, as far as the demo reads it. S-6. */
type StreamEvent =
  | { readonly type: "start" | "finished" }
  | { readonly type: "batch"; readonly total_sent: number; readonly total_records: number }
  | { readonly type: "error"; readonly error: string }
  | {
      readonly type: "done";
      readonly total_pushed?: number;
      readonly total_pulled?: number;
      readonly bytes_compressed: number;
      readonly bytes_uncompressed: number;
      readonly duration_ms: number;
    };

interface ApiRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: HeaderFields;
  readonly body?: object;
  readonly expect?: number;
}

/** Sends a request and parses its reply. Throws, with the text of the reply, when the status is another one. */
export async function callApi<Body>(url: string, request: ApiRequest): Promise<Body> {
  const response = await send(url, request);
  return (await response.json()) as Body;
}

/** The `data` of a reply of the reputation interface.. */
export async function callData<Data>(url: string, request: ApiRequest): Promise<Data> {
  return (await callApi<Record<"data", Data>>(url, request)).data;
}

export async function* readEvents(
  url: string,
  request: ApiRequest,
): AsyncGenerator<StreamEvent, void, undefined> {
  const response = await send(url, { method: "POST", ...request });
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      if (message.startsWith("data: ")) yield JSON.parse(message.slice("data: ".length));
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
