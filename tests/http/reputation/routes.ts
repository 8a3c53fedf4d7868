// Every operation under /v1, with what the shared suites need to call it.

/** Who an operation lets pass. */
export type Credential = "none" | "api_key" | "user" | "administrator";

/** One operation. */
export interface RouteUnderTest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As the OpenAPI document names it. */
  readonly template: string;
  /** The same with values. Ids name what nobody has. */
  readonly path: string;
  readonly credential: Credential;
  /** A body that is good, for operations that take one. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** True for lists. */
  readonly isList?: boolean;
  /** True for those that answer with events. */
  readonly isStream?: boolean;
}

const PROFILE = "/v1/public/profiles/{username}";
const NO_KEY = "00000000-0000-4000-8000-000000000000";

/** All of them; a test compares them with the OpenAPI document. */
export const ROUTES: readonly RouteUnderTest[] = [
  route("GET", "/v1/health", { credential: "none" }),
  route("GET", "/v1/health/live", { credential: "none" }),
  route("GET", "/v1/health/ready", { credential: "none" }),
  route("GET", `${PROFILE}/reputation`, { credential: "api_key" }),
  route("GET", PROFILE, { credential: "api_key" }),
  route("GET", `${PROFILE}/platforms`, { credential: "api_key" }),
  route("GET", "/v1/signup", { credential: "none" }),
  route("POST", "/v1/signup", {
    credential: "none",
    body: { username: "zoe", email: "zoe@example.com", password: "a password of zoe" },
  }),
  route("POST", "/v1/sessions", {
    credential: "none",
    body: { username: "nobody-here", password: "a password of nobody" },
  }),
  route("DELETE", "/v1/sessions", { credential: "user" }),
  route("DELETE", "/v1/sessions/current", { credential: "user" }),
  route("PUT", "/v1/me/password", {
    credential: "user",
    body: { current_password: "correct horse battery", new_password: "correct horse battery" },
  }),
  route("GET", "/v1/me", { credential: "user" }),
  route("DELETE", "/v1/me", { credential: "user" }),
  route("GET", "/v1/me/profile", { credential: "user" }),
  route("PATCH", "/v1/me/profile", { credential: "user", body: { bio: "b", public: true } }),
  route("GET", "/v1/me/reputation", { credential: "user" }),
  route("GET", "/v1/me/usage", { credential: "user" }),
  route("GET", "/v1/me/accesses", { credential: "user", isList: true }),
  route("GET", "/v1/me/consents", { credential: "user", isList: true }),
  route("POST", "/v1/me/consents", {
    credential: "user",
    body: { purpose: "profile_lookup", expires_at: "2999-01-01T00:00:00Z" },
  }),
  route("DELETE", "/v1/me/consents/{id}", { credential: "user", id: "999999" }),
  route("GET", "/v1/me/api-keys", { credential: "user", isList: true }),
  route("POST", "/v1/me/api-keys", {
    credential: "user",
    body: { name: "n", expires_at: "2999-01-01T00:00:00Z" },
  }),
  route("DELETE", "/v1/me/api-keys/{id}", { credential: "user", id: NO_KEY }),
  route("POST", "/v1/me/api-keys/{id}/rotate", {
    credential: "user",
    id: NO_KEY,
    body: { overlap_seconds: 60 },
  }),
  route("PUT", "/v1/admin/accounts/{username}/plan", {
    credential: "administrator",
    body: { plan: "enterprise", calls_per_month: 1_000, rate_limit_per_minute: 100 },
  }),
  route("POST", "/v1/admin/accounts/{username}/release", { credential: "administrator" }),
  route("GET", "/v1/admin/audit", { credential: "administrator", isList: true }),
  route("GET", "/v1/admin/audit/heads", { credential: "administrator" }),
  route("POST", "/v1/admin/audit/verify", { credential: "administrator", isStream: true }),
  route("GET", "/v1/admin/accounts", { credential: "administrator", isList: true }),
  route("GET", "/v1/admin/accounts/{username}", { credential: "administrator" }),
  route("DELETE", "/v1/admin/accounts/{username}", { credential: "administrator" }),
  route("POST", "/v1/admin/accounts/{username}/suspend", { credential: "administrator" }),
  route("POST", "/v1/admin/accounts/{username}/restore", { credential: "administrator" }),
  route("PUT", "/v1/admin/accounts/{username}/password", {
    credential: "administrator",
    body: { new_password: "correct horse battery" },
  }),
];

/** `METHOD /path/{parameter}`. */
export function nameOf({ method, template }: RouteUnderTest): string {
  return `${method} ${template}`;
}

/** Those that need a token. */
export const USER_ROUTES = ROUTES.filter(
  ({ credential }) => credential === "user" || credential === "administrator",
);
/** Those that need an API key. */
export const KEY_ROUTES = ROUTES.filter(({ credential }) => credential === "api_key");
/** Those that read a body. */
export const BODY_ROUTES = ROUTES.filter(({ body }) => body !== undefined);

function route(
  method: RouteUnderTest["method"],
  template: string,
  {
    id = "",
    ...rest
  }: Pick<RouteUnderTest, "credential" | "body" | "isList" | "isStream"> & { readonly id?: string },
): RouteUnderTest {
  const path = template.replace("{username}", "ana").replace("{id}", id);
  return { method, template, path, ...rest };
}
