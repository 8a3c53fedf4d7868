import { AppError } from "../domain/errors.ts";

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

/** A place in the tree of all patterns, one level per segment. */
interface Place {
  readonly named: Map<string, Place>;
  /** Where any segment leads that has no name here. */
  any: Place | null;
  route: Route | null;
}

/** Makes the function that finds the route of a path; null when nothing is served there. */
export function createRouteFinder(
  routes: readonly { readonly method: string; readonly path: string }[],
): (path: string) => Route | null {
  const root = newPlace();
  for (const { method, path } of routes) {
    let place = root;
    for (const segment of segmentsOf(path)) place = placeAfter(place, segment);
    const methods = [...(place.route?.methods ?? []), method];
    if (method === "GET") methods.push("HEAD");
    place.route = { pattern: path, methods: methods.sort(compareGetFirst) };
  }
  return (path) => find(root, segmentsOf(path), 0);
}

/** A trailing slash makes no difference. */
function segmentsOf(path: string): string[] {
  const segments = path.split("/");
  if (segments.length > 2 && segments.at(-1) === "") segments.pop();
  return segments;
}

function placeAfter(place: Place, segment: string): Place {
  if (segment.startsWith(":")) {
    place.any ??= newPlace();
    return place.any;
  }
  const next = place.named.get(segment) ?? newPlace();
  place.named.set(segment, next);
  return next;
}

function find(place: Place, segments: readonly string[], at: number): Route | null {
  const segment = segments[at];
  if (segment === undefined) return place.route;
  const named = place.named.get(segment);
  const found = named === undefined ? null : find(named, segments, at + 1);
  if (found !== null || place.any === null || segment === "") return found;
  return find(place.any, segments, at + 1);
}

function newPlace(): Place {
  return { named: new Map(), any: null, route: null };
}

function compareGetFirst(a: string, b: string): number {
  return Number(b === "GET") - Number(a === "GET");
}
