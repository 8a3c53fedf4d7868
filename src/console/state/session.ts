// The session, as far as this tab knows.
import { signal } from "@preact/signals";
import type { Account, SignIn } from "../api/interface.ts";
import { listenForSignOut, noteSignIn, request } from "../api/request.ts";
import { RequestError } from "../api/request-error.ts";
import { navigate, place, safeAddress } from "./router.ts";

type Session =
  | { readonly kind: "unknown"; readonly error: RequestError | null }
  /** `hasEnded`: somebody was signed in before, in this tab. */
  | { readonly kind: "signed_out"; readonly hasEnded: boolean }
  | { readonly kind: "signed_in"; readonly account: Account };

export const session = signal<Session>({ kind: "unknown", error: null });

/** Tabs have one cookie: whoever signs in in one is signed in in all. */
let tabs: BroadcastChannel | undefined;

export const SIGN_IN = "/console/sign-in";
export const SIGN_UP = "/console/sign-up";

/** Asks who is signed in, and again once somebody signs in in another tab. Called once, and when the service could not be reached. */
export async function findSession(): Promise<void> {
  tabs ??= new BroadcastChannel("sign-in");
  tabs.onmessage = () => {
    noteSignIn();
    void findSession();
  };
  listenForSignOut(() => {
    session.value = { kind: "signed_out", hasEnded: session.value.kind === "signed_in" };
  });
  try {
    session.value = { kind: "signed_in", account: await request("get /v1/me") };
  } catch (error) {
    if (session.value.kind === "signed_out") return;
    session.value = { kind: "unknown", error: error instanceof RequestError ? error : null };
  }
}

/** Begins a session and opens the page that was asked for. Throws `RequestError`. */
export async function signIn(credentials: SignIn): Promise<void> {
  await request("post /v1/sessions", { body: credentials });
  noteSignIn();
  tabs?.postMessage(null);
  const account = await request("get /v1/me");
  session.value = { kind: "signed_in", account };
}

/** Ends the session. Throws `RequestError` while the service cannot be reached. */
export async function signOut(): Promise<void> {
  try {
    await request("delete /v1/sessions/current");
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
  }
  leave();
}

/** The session is over here, as the one who is signed in asked for. */
export function leave(): void {
  session.value = { kind: "signed_out", hasEnded: false };
  navigate(SIGN_IN);
}

/** The sign-in page with what is shown now as the page to open afterwards. */
export function signInAddress(): string {
  const { path, search } = place.value;
  return `${SIGN_IN}?${new URLSearchParams({ next: path + search })}`;
}

/** The page to open after signing in. */
export function nextAddress(): string {
  const next = safeAddress(new URLSearchParams(place.value.search).get("next"));
  return next.startsWith(SIGN_IN) || next.startsWith(SIGN_UP) ? "/console" : next;
}

/** The name of who is signed in; empty for nobody. */
export function ownName(): string {
  return session.value.kind === "signed_in" ? session.value.account.username : "";
}

export function isAdministrator(): boolean {
  return session.value.kind === "signed_in" && session.value.account.role === "administrator";
}
