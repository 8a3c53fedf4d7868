// Requests to the service, as src/console/api/interface.ts types them.
import type { Asked, Operations, Reply, RequestOptions, SentFile } from "./interface.ts";
import { RequestError, unreachable } from "./request-error.ts";

/** The fields that `RequestOptions` of any operation may have. */
export interface AnyOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: object;
  readonly body?: unknown;
  /** A file in place of `body`. */
  readonly file?: SentFile;
  readonly signal?: AbortSignal;
}

/** Called when a reply says that nobody is signed in any more. */
let onSignedOut = () => {};
/** Raised by each sign-in: a reply to a request from before says nothing of it. */
let signIns = 0;

export function listenForSignOut(listener: () => void): void {
  onSignedOut = listener;
}

export function noteSignIn(): void {
  signIns++;
}

/**
 * Asks the service with the session cookie. Throws `RequestError`, also of a service that does not answer in time, and the
 * signal's reason once `signal` is aborted.
 * `path` and `query` stand in `options`: `request("get /v1/me/accesses", { query: { limit: 20 } })`.
 */
export async function request<O extends Asked>(
  operation: O,
  ...[options]: object extends RequestOptions<O>
    ? [options?: RequestOptions<O>]
    : [options: RequestOptions<O>]
): Promise<Reply<O>> {
  const patience = new Patience(operation, options?.signal);
  try {
    const response = await send(operation, options ?? {}, patience);
    // A service that is killed, or a proxy that gives up, cuts a reply.
    const body = (await response.json().catch(cutBy(patience))) as { readonly data?: unknown };
    return (operation.includes(" /v1/") && "data" in body ? body.data : body) as Reply<O>;
  } finally {
    patience.end();
  }
}

/** Sends a request and gives the good reply to it. Throws as `request`. */
export async function send(
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
    // Firefox keeps a request waiting while another tab reads the reply to the same one, such as a stream, into its cache.
    cache: "no-store",
    ...(body !== undefined && { body: JSON.stringify(body), headers: JSON_TYPE }),
  };
  const response = await (file === undefined
    ? fetch(address, init).catch(cutBy(patience))
    : sendFile(address, file, patience));
  if (response.ok) return response;
  const error = await RequestError.of(response);
  const isSignedOut = error.status === 401 && error.code !== "credentials_invalid";
  if (isSignedOut && signIns === signInsBefore) onSignedOut();
  throw error;
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** Says of a failure of the connection that it is one, and passes on what else there is. */
export function cutBy({ signal }: Patience): (error: unknown) => never {
  return (error) => {
    if (signal.aborted) throw signal.reason;
    throw error instanceof RequestError ? error : unreachable();
  };
}

/** The address of a path with its parameters in place. What is empty of a query is left out. */
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

// A file as the body of a request. A browser reads the reply only once it has sent all of it, and what it has sent no `fetch`
// tells: so that somebody can see how far it has come, files go by the older way.

/** Resolves with the reply once it begins. Throws as `fetch`, and the signal's reason once `signal` is aborted. */
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
    request.onerror = () => fail(NOT_SENT);
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

/** The longest time in which a service says something, also while it is busy. */
const USUAL_MS = 30_000;
/** The limit of requests that wait for other work. */
const LONG_MS = 180_000;
const LONG: ReadonlySet<keyof Operations> = new Set<keyof Operations>([
  "put /api/v1/sync/tables/{name}",
  "post /api/v1/sync/infer",
  "post /api/v1/sync/import/{table_name}",
  "post /api/v1/sync/runs/{run_id}/cancel",
  "post /api/v1/sync/rejected/{id}/retry",
]);

/** The time for which the console waits for the reply to one request: it gives up once the service has said nothing for so long. */
export class Patience {
  /** Aborted when it is over, and when nobody needs the reply any more. */
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

  /** The service has said something. */
  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#over.abort(unanswered(this.#ms)), this.#ms);
  }

  /** All of the reply is there, or none will come. */
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
