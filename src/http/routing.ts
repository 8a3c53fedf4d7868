// The address of a request: what it names, and how the router is to see it.

import { Memoirist } from "memoirist";
import { AppError } from "../domain/shared/errors.ts";
import type { ListParameters } from "../domain/shared/list-query.ts";

/** Elysia looks for the path from this character on. */
const ROUTER_PATH_FROM = 11;

export interface Target {
  /** Every segment can be percent-decoded. */
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly search: string;
}

/** Reads any request's address, also one whose Host header makes no valid URL. */
export function readTarget(url: string): Target {
  const match = /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/i.exec(url);
  const path = match?.[1] || "/";
  return { path: decodablePath(path), search: match?.[2] ?? "" };
}

/** The parameters in a request's address; `new URL()` would throw where its Host header makes no valid URL. */
export function queryOf({ url }: Request): URLSearchParams {
  return new URLSearchParams(readTarget(url).search);
}

/** Encodes damaged percent-encoding again, so that it names nothing and causes no failure. */
function decodablePath(path: string): string {
  return !path.includes("%") || isDecodable(path) ? path : path.replaceAll("%", "%25");
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The request as the router takes it: HEAD as GET, as the server leaves the body out by itself (D-3.11), and with a
 * plain address, as Elysia looks for the path from the twelfth character on. The request stays the same object: Bun
 * sends no reply to the copy of a request whose body was not read to its end.
 */
export function asRouted(request: Request, { path, search }: Target): Request {
  const { url, method } = request;
  const pathAt = url.length - path.length - search.length;
  const isPlain = url.indexOf("/", ROUTER_PATH_FROM) === pathAt && url.endsWith(path + search);
  if (method !== "HEAD" && isPlain) return request;
  return Object.defineProperties(request, {
    url: { value: `http://localhost${path}${search}` },
    method: { value: method === "HEAD" ? "GET" : method },
  });
}

/** A known path with a method it does not take. D-3.11. */
export class MethodNotAllowed extends AppError {
  readonly methods: readonly string[];

  constructor(method: string, methods: readonly string[]) {
    super("method_not_allowed", `Method ${method} is not allowed here; use ${methods.join(", ")}`);
    this.methods = methods;
  }
}

export interface Route {
  /** The path with the names of its parameters, such as `/api/v1/sync/pull/:table_name`. */
  readonly pattern: string;
  /** HEAD beside GET. */
  readonly methods: readonly string[];
}

const ANY_METHOD = "ANY";

/** Makes the function that finds the route of a path, null without one. */
export function createRouteFinder(
  routes: readonly { readonly method: string; readonly path: string }[],
): (path: string) => Route | null {
  const methodsOf = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = methodsOf.get(path) ?? [];
    methodsOf.set(path, [...methods, method, ...(method === "GET" ? ["HEAD"] : [])]);
  }
  const router = new Memoirist<Route>();
  for (const [pattern, methods] of methodsOf) {
    router.add(ANY_METHOD, pattern, { pattern, methods: methods.sort(compareGetFirst) });
  }
  // Exactly as written: servers resolve `..` in what a client puts together, and what is left over must not be a route.
  return (path) => router.find(ANY_METHOD, path)?.store ?? null;
}

function compareGetFirst(a: string, b: string): number {
  return Number(b === "GET") - Number(a === "GET");
}

/** `limit` and `cursor` of a list, as they were sent. */
export function listParametersOf(request: Request): ListParameters {
  const query = queryOf(request);
  return { limit: query.get("limit"), cursor: query.get("cursor") };
}
