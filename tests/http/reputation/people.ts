// People of the HTTP tests: accounts with tokens and keys, made through the interface itself.
import type { Reply, RequestOptions, SyncClient } from "../support/sync-app.ts";

/** Password of everybody. */
export const PASSWORD = "correct horse battery";
/** The administrator of apps started with `ADMIN_ENV`. */
export const ADMIN_ENV = { ADMIN_USERNAME: "root", ADMIN_PASSWORD: PASSWORD };

/** `data` of a reply. */
export function dataOf(reply: Reply): Record<string, unknown> {
  return reply.json["data"] as Record<string, unknown>;
}

/** A request with a JSON body. */
export function jsonBody(body: unknown, method = "POST"): RequestOptions {
  return { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
}

let addresses = 0;

/** The request as from an address of its own, for apps that trust a proxy: signups of one address are limited. */
function fromElsewhere(request: RequestOptions): RequestOptions {
  addresses++;
  const address = `10.0.${addresses >> 8}.${addresses & 255}`;
  return { ...request, headers: { ...request.headers, "X-Forwarded-For": address } };
}

/** Somebody who is signed in. */
export class Person {
  readonly app: SyncClient;
  readonly username: string;
  readonly token: string;

  private constructor(app: SyncClient, username: string, token: string) {
    this.app = app;
    this.username = username;
    this.token = token;
  }

  /** Signs up and in. */
  static async signUp(app: SyncClient, username: string): Promise<Person> {
    const body = { username, email: `${username}@example.com`, password: PASSWORD };
    const reply = await app.send("/v1/signup", fromElsewhere(jsonBody(body)));
    if (reply.status !== 201) throw new Error(reply.text);
    return await Person.signIn(app, username);
  }

  /** Signs in. */
  static async signIn(app: SyncClient, username: string): Promise<Person> {
    const credentials = jsonBody({ username, password: PASSWORD });
    const reply = await app.send("/v1/sessions", fromElsewhere(credentials));
    if (reply.status !== 200) throw new Error(reply.text);
    return new Person(app, username, String(dataOf(reply)["token"]));
  }

  /** A request with the token. */
  async send(path: string, options: RequestOptions = {}): Promise<Reply> {
    const headers = { Authorization: `Bearer ${this.token}`, ...options.headers };
    return await this.app.send(path, { ...options, headers });
  }

  /** A POST with a JSON body. */
  async post(path: string, body: unknown): Promise<Reply> {
    return await this.send(path, jsonBody(body));
  }

  /** Issues a key and gives its text. */
  async issueKey(): Promise<string> {
    return String(dataOf(await this.post("/v1/me/api-keys", { name: "a key" }))["key"]);
  }

  /** Grants a consent and gives its id. */
  async consent(purpose = "reputation_lookup"): Promise<number> {
    return Number(dataOf(await this.post("/v1/me/consents", { purpose }))["id"]);
  }
}

/** Makes the name of somebody who was erased free, as the administrator of `ADMIN_ENV`. */
export async function releaseName(app: SyncClient, username: string): Promise<void> {
  const root = await Person.signIn(app, "root");
  const reply = await root.send(`/v1/admin/accounts/${username}/release`, { method: "POST" });
  if (reply.status !== 200) throw new Error(reply.text);
}

/** A lookup with a key. */
export async function lookUp(
  app: SyncClient,
  key: string,
  { username, rest = "/reputation" }: { username: string; rest?: string },
): Promise<Reply> {
  const path = `/v1/public/profiles/${encodeURIComponent(username)}${rest}`;
  return await app.send(path, { headers: { "X-API-Key": key } });
}
