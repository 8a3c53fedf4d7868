import type {
  EventOf,
  Operations,
  Reply,
  ReplyOperation,
  RequestOptions,
  SentFile,
  StreamOperation,
} from "./interface.ts";
import { RequestError, unreachable } from "./request-error.ts";

/** Called when a reply says that the session has ended. */
let onSignedOut = (_: keyof Operations) => {};
/** The number of sign-ins: a reply to a request from before the last one says nothing about the session. */
let signIns = 0;

/** `listener` gets the operation that was refused. */
export function listenForSignOut(listener: typeof onSignedOut): void {
  onSignedOut = listener;
}

export function noteSignIn(): void {
  signIns++;
}

/**
 * Asks the service with the session cookie: `request("get /v1/me/accesses", { query: { limit: 20 } })`. Throws `RequestError`, also for
 * a silent service, and the signal's reason once `signal` is aborted.
 */
export async function request<O extends ReplyOperation>(
  operation: O,
  ...[options]: object extends RequestOptions<O>
    ? [options?: RequestOptions<O>]
    : [options: RequestOptions<O>]
): Promise<Reply<O>> {
  const patience = new Patience(operation, options?.signal);
  try {
    const response = await send(operation, options ?? {}, patience);
    // A killed service, or a proxy that gives up, cuts the reply.
    const body = (await response.json().catch(cutBy(patience))) as { readonly data?: unknown };
    return (operation.includes(" /v1/") && "data" in body ? body.data : body) as Reply<O>;
  } finally {
    patience.end();
  }
}

type StreamOptions<O extends StreamOperation> = RequestOptions<O> & {
  readonly signal: AbortSignal;
  /** Called with each comment but `keep-alive`, such as `retry 3 of 8 in 4 s: <reason>`. */
  readonly onComment?: (text: string) => void;
  /** Called before the first event. */
  readonly onHeaders?: (headers: Headers) => void;
};

/**
 * Reads events, each a JSON value in a `data:` line, up to `finished`. Throws `RequestError`, also for a stream that breaks off or
 * falls silent, and the signal's reason once `signal` is aborted.
 */
export async function* readEventStream<O extends StreamOperation>(
  operation: O,
  options: StreamOptions<O>,
): AsyncGenerator<EventOf<O>, void, undefined> {
  const { signal, onComment, onHeaders } = options;
  const patience = new Patience(operation, signal);
  let last: EventOf<O> | null = null;
  try {
    const response = await send(operation, options as AnyOptions, patience);
    onHeaders?.(response.headers);
    for await (const line of linesOf(response, patience)) {
      if (line.startsWith(": ") && line !== ": keep-alive") onComment?.(line.slice(2));
      if (!line.startsWith("data:")) continue;
      last = JSON.parse(line.slice("data:".length)) as EventOf<O>;
      yield last;
    }
    // Behind a proxy that asks by HTTP/1.0 a stream that breaks off looks whole.
    if (last?.type !== "finished") throw unreachable();
  } finally {
    patience.end();
  }
}

/** An idle service sends a comment every 5 seconds. */
async function* linesOf(response: Response, patience: Patience): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (true) {
      const { done, value } = await reader.read().catch(cutBy(patience));
      if (done) break;
      patience.renew();
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    // Leaving early ends the request.
    reader.cancel().catch(() => {});
  }
}

interface AnyOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: object;
  readonly body?: unknown;
  /** In place of `body`. */
  readonly file?: SentFile;
  readonly signal?: AbortSignal;
}

/** Gives the reply if it is a good one. Throws as `request`. */
async function send(
  operation: keyof Operations,
  options: AnyOptions,
  patience: Patience,
): Promise<Response> {
  const { file, body } = options;
  const [method = "", path = ""] = operation.split(" ");
  const signInsBefore = signIns;
  const address = addressOf(path, options);
  const init: RequestInit = {
    method: method.toUpperCase(),
    signal: patience.signal,
    // Without `no-store` Firefox holds a request while another tab reads the reply to the same one, such as a stream.
    cache: "no-store",
    ...(body !== undefined && { body: JSON.stringify(body), headers: JSON_TYPE }),
  };
  const response = await (file === undefined
    ? fetch(address, init).catch(cutBy(patience))
    : sendFile(address, file, patience));
  if (response.ok) return response;
  const error = await RequestError.of(response);
  const isSignedOut = error.status === 401 && error.code !== "credentials_invalid";
  if (isSignedOut && signIns === signInsBefore) onSignedOut(operation);
  throw error;
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** Turns a failure of the connection into `unreachable`, and passes on all else. */
function cutBy({ signal }: Patience): (error: unknown) => never {
  return (error) => {
    if (signal.aborted) throw signal.reason;
    throw error instanceof RequestError ? error : unreachable();
  };
}

/** Fills in parameters, and leaves out empty ones of the query. */
function addressOf(path: string, { path: values = {}, query = {} }: AnyOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name])),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== "") search.append(name, String(one));
    }
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

/**
 * Sends a file by XMLHttpRequest, as `fetch` does not tell how much was sent. Resolves when the reply begins. Throws as `fetch`, and the
 * signal's reason once `signal` is aborted.
 */
function sendFile(
  address: string,
  { content, type, onSent }: SentFile,
  patience: Patience,
): Promise<Response> {
  const request = new XMLHttpRequest();
  const encoder = new TextEncoder();
  return new Promise((resolve, reject) => {
    let reply: ReadableStreamDefaultController<Uint8Array> | null = null;
    let readChars = 0;

    function readOn() {
      const text = request.responseText;
      reply?.enqueue(encoder.encode(text.slice(readChars)));
      readChars = text.length;
    }

    function fail(error: unknown) {
      reject(error);
      reply?.error(error);
    }

    request.open("POST", address);
    request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = ({ loaded }) => {
      patience.renew();
      onSent?.(loaded);
    };
    request.onreadystatechange = () => {
      if (request.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          reply = controller;
        },
        cancel: () => request.abort(),
      });
      resolve(new Response(body, { status: request.status, headers: headersOf(request) }));
    };
    request.onprogress = readOn;
    request.onload = () => {
      readOn();
      reply?.close();
    };
    // Once the reply has begun, the service is away.
    request.onerror = () => fail(reply === null ? NOT_SENT : unreachable());
    patience.signal.addEventListener("abort", () => {
      request.abort();
      fail(patience.signal.reason);
    });
    request.send(content);
  });
}

function headersOf(request: XMLHttpRequest): Headers {
  const lines = request.getAllResponseHeaders().matchAll(/^(.+?): (.*)$/gm);
  return new Headers([...lines].map(([, name = "", value = ""]) => [name, value]));
}

const NOT_SENT = new RequestError(0, {
  detail: "The file could not be sent to its end",
  hint: "Check that the service runs, and that nobody has changed the file meanwhile; then choose it again",
});

/** Longest silence of a service, also of a busy one. */
const USUAL_MS = 30_000;
/** For requests that wait for other work. */
const LONG_MS = 180_000;
const LONG: ReadonlySet<keyof Operations> = new Set<keyof Operations>([
  "put /api/v1/sync/tables/{name}",
  "post /api/v1/sync/infer",
  "post /api/v1/sync/import/{table_name}",
  "post /api/v1/sync/runs/{run_id}/cancel",
  "post /api/v1/sync/rejected/{id}/retry",
]);

/** Gives up on a request when the service has said nothing for a time. */
class Patience {
  /** Aborted on giving up, and when nobody needs the reply any more. */
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #ms: number;
  #timer: number | undefined;

  constructor(operation: keyof Operations, unneeded: AbortSignal | undefined) {
    const own = this.#over.signal;
    this.signal = unneeded === undefined ? own : AbortSignal.any([own, unneeded]);
    this.#ms = LONG.has(operation) ? LONG_MS : USUAL_MS;
    this.renew();
  }

  /** To be called when the service has said something. */
  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#over.abort(unanswered(this.#ms)), this.#ms);
  }

  /** To be called when the reply is complete, or none will come. */
  end(): void {
    clearTimeout(this.#timer);
  }
}

function unanswered(ms: number): RequestError {
  return new RequestError(0, {
    code: "unreachable",
    detail: `The service has not answered for ${ms / 1_000} seconds`,
    hint: "Look whether it was done all the same, before you try again",
  });
}
