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

/** The route of a path; null when nothing is served there. */
export function findRoute(
  routes: readonly { readonly method: string; readonly path: string }[],
  path: string,
): Route | null {
  const found = routes.filter((route) => fits(route.path, path));
  const [first] = found;
  if (first === undefined) return null;
  const methods = found.map(({ method }) => method);
  return {
    pattern: first.path,
    methods: methods.includes("GET") ? [...methods, "HEAD"] : methods,
  };
}

/** True when the path has the pattern's segments; `:name` stands for any one that is not empty. */
function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.replace(/(?<=.)\/$/, "").split("/");
  if (wanted.length !== given.length) return false;
  return wanted.every((segment, i) =>
    segment.startsWith(":") ? given[i] !== "" : segment === given[i],
  );
}
