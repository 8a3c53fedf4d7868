// The session as this tab knows it.
import { signal } from "@preact/signals";
import type { Account, SignIn } from "../api/interface.ts";
import { listenForSignOut, noteSignIn, request } from "../api/request.ts";
import { RequestError } from "../api/request-error.ts";
import { sayOnNextPage } from "./page-visit.ts";
import { leave, navigate, place, queryValue, safeAddress } from "./router.ts";

/** The account that is signed in: null for nobody, undefined while it is unknown. */
export const session = signal<Account | null | undefined>(undefined);

/** Tabs share the cookie, so signing in or out in one counts for all. */
let tabs: BroadcastChannel | undefined;

export const SIGN_IN = "/console/sign-in";
export const SIGN_UP = "/console/sign-up";

/** Finds out who is signed in, and again after a change in another tab. Throws `RequestError` when nobody knows. */
export async function findSession(): Promise<void> {
  tabs ??= new BroadcastChannel("sign-in");
  tabs.onmessage = () => {
    noteSignIn();
    findSession().catch(() => {});
  };
  listenForSignOut((operation) => {
    const end = () => showSignIn("Your session has ended. Sign in again", signInAddress());
    if (ownAccount() === null) session.value = null;
    // Asked because another tab has signed in or out: nobody may be here to answer a question.
    else if (operation === "get /v1/me") end();
    else
      leave(
        end,
        "Your session has ended. To keep what is here, go back and sign in in another tab. ",
      );
  });
  try {
    session.value = await request("get /v1/me");
  } catch (error) {
    if (session.value === null) return;
    session.value = undefined;
    throw error;
  }
}

/** Throws `RequestError`. */
export async function signIn(credentials: SignIn): Promise<void> {
  await request("post /v1/sessions", { body: credentials });
  noteSignIn();
  tabs?.postMessage(null);
  session.value = await request("get /v1/me");
}

/** Throws `RequestError` while the service cannot be reached. */
export async function signOut(): Promise<void> {
  try {
    await request("delete /v1/sessions/current");
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
  }
  endSession("");
}

/** Ends what every tab shows of the session. Opens the page for signing in, with a sentence on it. */
export function endSession(text: string): void {
  tabs?.postMessage(null);
  showSignIn(text, SIGN_IN);
}

function showSignIn(text: string, address: string): void {
  session.value = null;
  sayOnNextPage(text);
  navigate(address, { isReplaced: true });
}

/** The page for signing in, which opens the present page afterwards. */
export function signInAddress(): string {
  const { path, search } = place.value;
  return `${SIGN_IN}?${new URLSearchParams({ next: path + search })}`;
}

/** The page to open after signing in. */
export function nextAddress(): string {
  const next = safeAddress(queryValue("next"));
  return next.startsWith(SIGN_IN) || next.startsWith(SIGN_UP) ? "/console" : next;
}

export function ownAccount(): Account | null {
  return session.value ?? null;
}

/** Empty when nobody is signed in. */
export function ownName(): string {
  return ownAccount()?.username ?? "";
}

export function isAdministrator(): boolean {
  return ownAccount()?.role === "administrator";
}
