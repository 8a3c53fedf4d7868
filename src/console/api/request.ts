// Requests to the service, typed by docs/openapi.json.
import type { components, paths } from "../../../dist/interface.d.ts";
import { RequestError, unreachable } from "./request-error.ts";

/** A schema of the interface by its name, such as `Schema<"ApiKey">`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

export type Method = "get" | "put" | "post" | "delete" | "patch";

/** The paths that take a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { readonly [K in M]: object } ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends PathOf<M>> = paths[P][M];

type Parameters<O, Place extends "path" | "query" | "header"> = O extends {
  readonly parameters: { readonly [K in Place]?: infer Values };
}
  ? Exclude<Values, undefined>
  : never;

type Body<O> = O extends {
  readonly requestBody?: { readonly content: { readonly "application/json": infer B } };
}
  ? B
  : never;

type JsonReply<O> = O extends { readonly responses: infer Responses }
  ? {
      [Status in keyof Responses]: Responses[Status] extends {
        readonly content: { readonly "application/json": infer R };
      }
        ? R
        : never;
    }[keyof Responses]
  : never;

/** What a request resolves to: the body, and under `/v1` its `data`. */
export type Reply<M extends Method, P extends PathOf<M>> =
  JsonReply<Operation<M, P>> extends { readonly success: true; readonly data: infer Data }
    ? Data
    : JsonReply<Operation<M, P>>;

type Given<Name extends string, Value> = [Value] extends [never]
  ? object
  : { readonly [K in Name]: Value };
type MayBeGiven<Name extends string, Value> = [Value] extends [never]
  ? object
  : { readonly [K in Name]?: Value };

/** What a request needs beside its method and path. */
export type RequestOptions<M extends Method, P extends PathOf<M>> = Given<
  "path",
  Parameters<Operation<M, P>, "path">
> &
  MayBeGiven<"query", Parameters<Operation<M, P>, "query">> &
  MayBeGiven<"body", Body<Operation<M, P>>> & { readonly signal?: AbortSignal };

interface AnyOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
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
 * `path` and `query` stand in `options`: `request("get", "/v1/me/accesses", { query: { limit: 20 } })`.
 */
export async function request<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...[options]: Record<never, never> extends RequestOptions<M, P>
    ? [options?: RequestOptions<M, P>]
    : [options: RequestOptions<M, P>]
): Promise<Reply<M, P>> {
  const given = (options ?? {}) as AnyOptions;
  const response = await send(method, addressOf(path, given), given);
  const body = (await response.json()) as { readonly success?: true; readonly data?: unknown };
  return (path.startsWith("/v1/") && "data" in body ? body.data : body) as Reply<M, P>;
}

/** Sends a request and gives the good reply to it. Throws as `request`. */
export async function send(
  method: Method,
  address: string,
  { body, signal }: Pick<AnyOptions, "body" | "signal">,
): Promise<Response> {
  const signInsBefore = signIns;
  const response = await fetch(address, {
    method: method.toUpperCase(),
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  if (response.ok) return response;
  const error = await RequestError.of(response);
  const isSignedOut = error.status === 401 && error.code !== "credentials_invalid";
  if (isSignedOut && signIns === signInsBefore) onSignedOut();
  throw error;
}

/** The address of a path with its parameters in place. */
export function addressOf(path: string, { path: values = {}, query = {} }: AnyOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name])),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
