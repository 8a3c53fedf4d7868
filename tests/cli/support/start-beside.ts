// A running service with two people, and the command line beside it on the same store.
import { expect } from "bun:test";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import type { Backend } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { startApp } from "../../http/support/sync-app.ts";
import { runCli } from "./run-cli.ts";

/** The password of everybody. */
export const PASSWORD = "correct horse";
const LOOKUP = "/v1/public/profiles/ana/reputation";
/** Those who sign up. */
export const PEOPLE = [
  { username: "ana", email: "ana@example.com", password: PASSWORD },
  { username: "acme", email: "acme@example.com", password: PASSWORD },
];

/** A running service on a store, and the command line beside it. */
export async function startBeside(backend: Backend) {
  const folder = makeTempFolder();
  const storageUrl = await backend.makeUrl();
  const env = { ...serviceEnv(folder), STORAGE_URL: storageUrl, LOG_LEVEL: "" };
  const service = await startApp({ env: { ...env, LOG_LEVEL: "silent" } });
  const cli = (args: readonly string[], input = "", more: Readonly<Record<string, string>> = {}) =>
    runCli(args, { folder, env: { ...env, ...more }, input });
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    service.send(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const signIn = async (username: string, password = PASSWORD) => {
    const { status, json } = await post("/v1/sessions", { username, password });
    const { token = "", role = "" } = (json["data"] ?? {}) as Record<string, string>;
    return { status, role, headers: { Authorization: `Bearer ${token}` } };
  };
  const signUp = async () => {
    for (const person of PEOPLE) expect((await post("/v1/signup", person)).status).toBe(201);
    const { headers } = await signIn("ana");
    const consent = { purpose: "reputation_lookup" };
    expect((await post("/v1/me/consents", consent, headers)).status).toBe(201);
  };
  const lookUp = async (key: string) => {
    const { status, json } = await service.send(LOOKUP, { headers: { "X-API-Key": key } });
    return [status, json["code"] ?? null];
  };
  return { service, storageUrl, env, folder, cli, post, signIn, signUp, lookUp };
}
