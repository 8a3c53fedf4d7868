import { Memoirist } from "memoirist";
import { AppError } from "../domain/shared/errors.ts";

/** A path that exists, asked with a method it does not take. D-3.11. */
export class MethodNotAllowed extends AppError {
  readonly methods: readonly string[];

  constructor(method: string, methods: readonly string[]) {
    super("method_not_allowed", `Method ${method} is not allowed here; use ${methods.join(", ")}`);
    this.methods = methods;
  }
}

/** What is served at a path. */
export interface Route {
  /** The path with the names of its parameters, such as `/api/v1/sync/pull/:table_name`. */
  readonly pattern: string;
  /** HEAD beside GET. */
  readonly methods: readonly string[];
}

/** One tree for all methods. */
const ANY_METHOD = "ANY";

/** Makes the function that finds the route of a path; null when nothing is served there. */
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
