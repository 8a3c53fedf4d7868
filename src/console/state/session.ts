// The session, as far as this tab knows.
import { signal } from "@preact/signals";
import type { Account, SignIn } from "../api/interface.ts";
import { listenForSignOut, noteSignIn, request } from "../api/request.ts";
import { RequestError } from "../api/request-error.ts";
import { sayOnNextPage } from "./messages.ts";
import { navigate, place, queryValue, safeAddress } from "./router.ts";

type Session =
  | { readonly kind: "unknown" | "signed_out" }
  | { readonly kind: "signed_in"; readonly account: Account };

export const session = signal<Session>({ kind: "unknown" });

/** Tabs have one cookie: whoever signs in or out in one does so in all. */
let tabs: BroadcastChannel | undefined;

export const SIGN_IN = "/console/sign-in";
export const SIGN_UP = "/console/sign-up";

/** Asks who is signed in, and again once that changes in another tab. Throws `RequestError`; nobody knows it then. */
export async function findSession(): Promise<void> {
  tabs ??= new BroadcastChannel("sign-in");
  tabs.onmessage = () => {
    noteSignIn();
    findSession().catch(() => {});
  };
  listenForSignOut(() => {
    if (ownAccount() === null) session.value = { kind: "signed_out" };
    else endSession("Your session has ended. Sign in again", signInAddress());
  });
  try {
    session.value = { kind: "signed_in", account: await request("get /v1/me") };
  } catch (error) {
    if (session.value.kind === "signed_out") return;
    session.value = { kind: "unknown" };
    throw error;
  }
}

/** Begins a session and opens the page that was asked for. Throws `RequestError`. */
export async function signIn(credentials: SignIn): Promise<void> {
  await request("post /v1/sessions", { body: credentials });
  noteSignIn();
  tabs?.postMessage(null);
  session.value = { kind: "signed_in", account: await request("get /v1/me") };
}

/** Ends the session. Throws `RequestError` while the service cannot be reached. */
export async function signOut(): Promise<void> {
  try {
    await request("delete /v1/sessions/current");
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
  }
  endSession("");
}

/** The session is over: the page for signing in opens, with a sentence on it. */
export function endSession(text: string, address = SIGN_IN): void {
  session.value = { kind: "signed_out" };
  tabs?.postMessage(null);
  sayOnNextPage(text);
  navigate(address, { isReplaced: true });
}

/** The sign-in page with what is shown now as the page to open afterwards. */
export function signInAddress(): string {
  const { path, search } = place.value;
  return `${SIGN_IN}?${new URLSearchParams({ next: path + search })}`;
}

/** The page to open after signing in. */
export function nextAddress(): string {
  const next = safeAddress(queryValue("next"));
  return next.startsWith(SIGN_IN) || next.startsWith(SIGN_UP) ? "/console" : next;
}

/** The account of who is signed in; null for nobody. */
export function ownAccount(): Account | null {
  return session.value.kind === "signed_in" ? session.value.account : null;
}

/** The name of who is signed in; empty for nobody. */
export function ownName(): string {
  return ownAccount()?.username ?? "";
}

export function isAdministrator(): boolean {
  return ownAccount()?.role === "administrator";
}
