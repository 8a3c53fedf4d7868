// Requests to the service, as src/console/api/interface.ts types them.
import type { Asked, Operations, Reply, RequestOptions, SentFile } from "./interface.ts";
import { RequestError, unreachable } from "./request-error.ts";
import { sendFile } from "./send-file.ts";

/** What `RequestOptions` of any operation may have. */
export interface AnyOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: object;
  readonly body?: unknown;
  /** In place of `body`. */
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
 * Asks the service with the session cookie. Throws `RequestError`, and the signal's reason once `signal` is aborted.
 * `path` and `query` stand in `options`: `request("get /v1/me/accesses", { query: { limit: 20 } })`.
 */
export async function request<O extends Asked>(
  operation: O,
  ...[options]: object extends RequestOptions<O>
    ? [options?: RequestOptions<O>]
    : [options: RequestOptions<O>]
): Promise<Reply<O>> {
  const response = await send(operation, options ?? {});
  const body = (await response.json()) as { readonly data?: unknown };
  return (operation.includes(" /v1/") && "data" in body ? body.data : body) as Reply<O>;
}

/** Sends a request and gives the good reply to it. Throws as `request`. */
export async function send(operation: keyof Operations, options: AnyOptions): Promise<Response> {
  const { file, signal } = options;
  const [method = "", path = ""] = operation.split(" ");
  const signInsBefore = signIns;
  const address = addressOf(path, options);
  const response = await (file === undefined
    ? ask(method.toUpperCase(), address, options)
    : sendFile(address, file, signal));
  if (response.ok) return response;
  const error = await RequestError.of(response);
  const isSignedOut = error.status === 401 && error.code !== "credentials_invalid";
  if (isSignedOut && signIns === signInsBefore) onSignedOut();
  throw error;
}

async function ask(
  method: string,
  address: string,
  { body, signal }: AnyOptions,
): Promise<Response> {
  const sent = body !== undefined && {
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
  };
  return await fetch(address, { method, ...(signal && { signal }), ...sent }).catch((error) => {
    throw signal?.aborted ? error : unreachable();
  });
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
