// The deployments of the demo, and the credentials that end with it.
import type { Output } from "../output.ts";
import { callData } from "./api.ts";

/** A deployment that runs. */
export interface Deployment {
  /** Its address. */
  readonly url: string;
  /** What it was configured with; the command line works with the same. */
  readonly settings: Readonly<Record<string, string>>;
}

/** All of them. */
export type Deployments = Readonly<Record<"local" | "production" | "copy", Deployment>>;

/** What every part of the demo works with. */
export interface Stage {
  readonly output: Output;
  /** Of the demo's own, removed at the end. */
  readonly folder: string;
}

/** `SYNC_API_KEY` of all deployments. */
export const SYNC_KEY = "demo-sync-key";
/** `ADMIN_USERNAME` and `ADMIN_PASSWORD` of all deployments. */
export const ADMINISTRATOR = { username: "admin", password: "demo-admin-password" };

/** Signs in and gives the header for further requests; as administrator when nobody else is named. */
export async function signIn(
  url: string,
  { username, password }: { readonly username: string; readonly password: string } = ADMINISTRATOR,
): Promise<Readonly<Record<string, string>>> {
  const { token } = await callData<{ readonly token: string }>(`${url}/v1/sessions`, {
    method: "POST",
    body: { username, password },
  });
  return { Authorization: `Bearer ${token}` };
}
