// Signing up, in and out, and one's own password. D-5.4, D-8.6, D-8.7.
import { SESSION_TTL_SECONDS } from "../../../domain/shared/limits.ts";
import type { Caller } from "../../../usecases/reputation/accounts/attempts.ts";
import type { SessionDeps } from "../../../usecases/reputation/accounts/deps.ts";
import { changePassword } from "../../../usecases/reputation/accounts/me.ts";
import {
  signIn,
  signOut,
  signOutEverywhere,
} from "../../../usecases/reputation/accounts/sessions.ts";
import {
  readSignUpState,
  requireSignUpEnabled,
  signUp,
} from "../../../usecases/reputation/accounts/sign-up.ts";
import { Answer, EVERYBODY, type Guard, headerDoc } from "../../description.ts";
import type { Exchange } from "../../exchange.ts";
import { user, writer } from "../../guards/bearer.ts";
import { cookieRemoval, sessionCookie, signInPage } from "../../guards/browser.ts";
import { type Operation, operation } from "../../operation.ts";
import { data } from "../../replies.ts";
import {
  AccountSchema,
  PasswordChangeSchema,
  SessionSchema,
  SignInSchema,
  SignUpSchema,
  SignUpStateSchema,
  statusOf,
} from "../../schemas/account.ts";

const OVERLOADED = "Too many passwords wait, or the store cannot be reached";
const COOKIE = {
  "Set-Cookie": headerDoc(
    "The session, HttpOnly and SameSite=Strict; not for pages of CORS_ORIGINS",
  ),
};

export function sessionRoutes(deps: SessionDeps): Operation[] {
  return [...signingIn(deps), ...signedIn(deps)];
}

/** Admits everybody, unless signing up is disabled. */
function signUpPage(deps: SessionDeps): Guard<{ readonly isCookieSet: boolean }> {
  return {
    ...signInPage,
    admit(exchange, path) {
      requireSignUpEnabled(deps);
      return signInPage.admit(exchange, path);
    },
  };
}

function callerOf(exchange: Exchange): Caller {
  return { address: exchange.clientAddress(), gone: exchange.gone() };
}

function ended(exchange: Exchange) {
  return new Answer(200, { status: "ended" } as const, cookieRemoval(exchange));
}

function signingIn(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/signup",
      id: "readSignUp",
      summary: "Tell who may sign up and in",
      guard: EVERYBODY,
      replies: { 200: data("As it is now", SignUpStateSchema) },
      run: () => readSignUpState(deps),
    }),
    operation({
      at: "POST /v1/signup",
      id: "signUp",
      summary: "Make an account and its profile",
      guard: signUpPage(deps),
      body: SignUpSchema,
      replies: {
        201: data("Made", AccountSchema),
        403: "Signing up is disabled, or the request comes from a page of another origin",
        409: "Username or e-mail address taken",
        429: "Too many attempts from this address",
        503: OVERLOADED,
      },
      run: ({ body, exchange }) => signUp(deps, body, callerOf(exchange)),
    }),
    operation({
      at: "POST /v1/sessions",
      id: "signIn",
      summary: "Begin a session",
      guard: signInPage,
      body: SignInSchema,
      replies: {
        200: data("Begun", SessionSchema, COOKIE),
        401: "Username or password wrong",
        403: "The request comes from a page of another origin",
        429: "Too many failures of this account or from this address",
        503: OVERLOADED,
      },
      run: async ({ caller, body, exchange }) => {
        const session = await signIn(deps, body, callerOf(exchange));
        const cookie = sessionCookie(exchange, session.token, SESSION_TTL_SECONDS);
        return new Answer(200, session, caller.isCookieSet ? { "Set-Cookie": cookie } : {});
      },
    }),
  ];
}

function signedIn(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "PUT /v1/me/password",
      id: "changePassword",
      summary: "Change your password",
      description: "The session of the token goes on; all others end, on every instance at once.",
      guard: writer(deps),
      body: PasswordChangeSchema,
      replies: {
        200: data("Changed", statusOf("PasswordChanged", "changed")),
        401: "Token missing, invalid or expired, or the current password wrong",
        409: "The account has no password here",
        429: "Too many wrong passwords, or too many changes",
        503: OVERLOADED,
      },
      run: ({ caller, body, exchange }) =>
        changePassword(deps, caller, { ...body, caller: callerOf(exchange) }),
    }),
    operation({
      at: "DELETE /v1/sessions/current",
      id: "signOut",
      summary: "End the session of the token",
      guard: user(deps),
      replies: { 200: data("Ended", statusOf("SignOut", "ended"), COOKIE) },
      run: async ({ caller, exchange }) => {
        await signOut(deps, caller.session);
        return ended(exchange);
      },
    }),
    operation({
      at: "DELETE /v1/sessions",
      id: "signOutEverywhere",
      summary: "End all your sessions",
      guard: user(deps),
      replies: { 200: data("Ended", statusOf("SignOutEverywhere", "ended"), COOKIE) },
      run: async ({ caller, exchange }) => {
        await signOutEverywhere(deps, caller);
        return ended(exchange);
      },
    }),
  ];
}
