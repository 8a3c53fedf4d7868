// The requests of the demo, as any client would send them: nothing of the service's own code is used.

/** An event of a run as the stream writes it, as far as the demo reads it. S-6. */
export type StreamEvent =
  | { readonly type: "start" | "finished" }
  | { readonly type: "batch"; readonly total_sent: number; readonly total_records: number }
  | { readonly type: "error"; readonly error: string }
  | {
      readonly type: "done";
      /** Of a push. */
      readonly total_pushed?: number;
      /** Of a pull. */
      readonly total_pulled?: number;
      readonly bytes_compressed: number;
      readonly bytes_uncompressed: number;
      readonly duration_ms: number;
    };

/** A request to a deployment. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The status that is right; 200 when absent. */
  readonly expect?: number;
}

/** Sends a request and parses its reply. Throws when the status is another one, with what the reply says. */
export async function callApi<Body>(url: string, request: ApiRequest = {}): Promise<Body> {
  const response = await send(url, request);
  return (await response.json()) as Body;
}

/** The `data` of a reply of the reputation interface.. */
export async function callData<Data>(url: string, request: ApiRequest = {}): Promise<Data> {
  return (await callApi<{ readonly data: Data }>(url, request)).data;
}

/** The events of a stream, to its end. S-4.5.3. */
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
