// Every operation under /api/v1/sync, with what the shared suites need to call it; those under /v1 are in reputation/routes.ts.

/** Who an operation lets pass. */
export type SyncCredential = "none" | "sync_key" | "administrator";

export interface SyncRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** As the OpenAPI document names it. */
  readonly template: string;
  /** The same with the table `notes` and an id that nothing has. */
  readonly path: string;
  readonly credential: SyncCredential;
  /** A body that is good, for operations of administrators that take one for runs. */
  readonly body?: Readonly<Record<string, unknown>>;
}

const NOTES = { table: "notes" };

/** All of them; a test compares them with the OpenAPI document. */
export const SYNC_ROUTES: readonly SyncRoute[] = [
  route("GET", "status", "none"),
  route("GET", "pull/{table_name}", "sync_key"),
  route("POST", "push/{table_name}", "sync_key"),
  route("GET", "digest/{table_name}", "sync_key"),
  route("GET", "schema/{table_name}", "sync_key"),
  route("GET", "deleted/{table_name}", "sync_key"),
  route("POST", "trigger", "administrator", NOTES),
  route("POST", "trigger-sse", "administrator", NOTES),
  route("POST", "compare", "administrator", NOTES),
  route("POST", "compare-sse", "administrator", NOTES),
  route("GET", "runs", "administrator"),
  route("GET", "runs/{run_id}", "administrator"),
  route("GET", "runs/{run_id}/events", "administrator"),
  route("POST", "runs/{run_id}/cancel", "administrator"),
  route("GET", "tables", "administrator"),
  route("GET", "rows/{table_name}", "administrator"),
  route("PUT", "rows/{table_name}", "administrator"),
  route("POST", "rows/{table_name}/delete", "administrator"),
  route("PUT", "tables/{name}", "administrator"),
  route("GET", "export/{table_name}", "administrator"),
  route("POST", "import/{table_name}", "administrator"),
  route("POST", "infer", "administrator"),
  route("GET", "overview", "administrator"),
  route("GET", "rejected", "administrator"),
  route("GET", "rejected/{id}", "administrator"),
  route("DELETE", "rejected/{id}", "administrator"),
  route("POST", "rejected/{id}/retry", "administrator"),
];

/** Those that take the sync key. */
export const SYNC_KEY_ROUTES = SYNC_ROUTES.filter(({ credential }) => credential === "sync_key");
/** Those of administrators. */
export const ADMINISTRATOR_ROUTES = SYNC_ROUTES.filter(
  ({ credential }) => credential === "administrator",
);

function route(
  method: SyncRoute["method"],
  rest: string,
  credential: SyncCredential,
  body?: Readonly<Record<string, unknown>>,
): SyncRoute {
  const template = `/api/v1/sync/${rest}`;
  const path = template.replace("{table_name}", "notes").replace(/\{\w+\}/, "0000000000000001");
  return { method, template, path, credential, ...(body === undefined ? {} : { body }) };
}
