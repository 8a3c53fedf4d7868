import { Elysia } from "elysia";
import { SESSION_TTL_SECONDS } from "../../../domain/shared/limits.ts";
import type { Caller } from "../../../usecases/reputation/accounts/attempts.ts";
import {
  type ChangePasswordDeps,
  changePassword,
} from "../../../usecases/reputation/accounts/change-password.ts";
import {
  type SignInDeps,
  signIn,
  signOut,
  signOutEverywhere,
} from "../../../usecases/reputation/accounts/sessions.ts";
import {
  readSignUpState,
  requireSignUpEnabled,
  type SignUpDeps,
  signUp,
} from "../../../usecases/reputation/accounts/sign-up.ts";
import { readBody } from "../../bodies.ts";
import { callerGone, clientAddress, exchangeOf, traced } from "../../exchange.ts";
import { readUserBody, requireUser, type WriterDeps } from "../../guards/bearer.ts";
import { requireJson, requireSignInPage, sessionCookie } from "../../guards/browser.ts";
import { headerDoc } from "../../openapi.ts";
import {
  BODY_PROBLEMS,
  bodyDoc,
  dataDoc,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  WRITER_PROBLEMS,
} from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import {
  AccountSchema,
  PasswordChangeSchema,
  SessionSchema,
  SignInSchema,
  SignUpSchema,
  SignUpStateSchema,
  statusOf,
} from "../../schemas/account.ts";

type SessionRouteDeps = SignInDeps & SignUpDeps & WriterDeps & ChangePasswordDeps;

/** Signup, sign-in and sign-out. D-5.4. */
export function sessionRoutes(deps: SessionRouteDeps, trustedProxyHops: number) {
  const callerOf = (request: Request): Caller => {
    const { connection } = exchangeOf(request);
    const address = clientAddress(request.headers, connection, trustedProxyHops);
    return { address, gone: callerGone(request) };
  };
  return new Elysia()
    .get(
      "/v1/signup",
      async ({ request }) => dataReply(deps.clock, await traced(request, readSignUpState)(deps)),
      {
        detail: SESSION_DETAILS.readSignUp,
      },
    )
    .post(
      "/v1/signup",
      async ({ request }) => {
        requireSignUpEnabled(deps);
        requireSignInPage(request);
        const body = await readBody(request, SignUpSchema);
        requireJson(request);
        return dataReply(deps.clock, await traced(request, signUp)(deps, body, callerOf(request)), {
          status: 201,
        });
      },
      { parse: "none", detail: SESSION_DETAILS.signUp },
    )
    .post(
      "/v1/sessions",
      async ({ request }) => {
        const { isCookieSet } = requireSignInPage(request);
        const body = await readBody(request, SignInSchema);
        requireJson(request);
        const session = await traced(request, signIn)(deps, body, callerOf(request));
        const cookie = sessionCookie(request, session.token, SESSION_TTL_SECONDS);
        const headers = isCookieSet ? { "Set-Cookie": cookie } : {};
        return dataReply(deps.clock, session, { headers });
      },
      { parse: "none", detail: SESSION_DETAILS.signIn },
    )
    .put(
      "/v1/me/password",
      async ({ request }) => {
        const { body } = await readUserBody(deps, request, PasswordChangeSchema);
        const identity = await requireUser(deps, request);
        const wanted = { ...body, caller: callerOf(request) };
        return dataReply(deps.clock, await traced(request, changePassword)(deps, identity, wanted));
      },
      { parse: "none", detail: SESSION_DETAILS.changePassword },
    )
    .delete(
      "/v1/sessions",
      async ({ request }) => {
        await traced(request, signOutEverywhere)(deps, await requireUser(deps, request));
        const headers = { "Set-Cookie": sessionCookie(request, "", 0) };
        return dataReply(deps.clock, { status: "ended" }, { headers });
      },
      { parse: "none", detail: SESSION_DETAILS.signOutEverywhere },
    )
    .delete(
      "/v1/sessions/current",
      async ({ request }) => {
        const { session } = await requireUser(deps, request);
        await traced(request, signOut)(deps, session);
        const headers = { "Set-Cookie": sessionCookie(request, "", 0) };
        return dataReply(deps.clock, { status: "ended" }, { headers });
      },
      { parse: "none", detail: SESSION_DETAILS.signOut },
    );
}

const COOKIE = {
  "Set-Cookie": headerDoc(
    "The session, HttpOnly and SameSite=Strict; not for pages of CORS_ORIGINS",
  ),
};

const SESSION_DETAILS = {
  readSignUp: {
    operationId: "readSignUp",
    tags: ["account"],
    summary: "Tell who may sign up and in",
    security: [],
    responses: { 200: dataDoc("As it is now", SignUpStateSchema), ...problemDocs({}) },
  },
  signUp: {
    operationId: "signUp",
    tags: ["account"],
    summary: "Make an account and its profile",
    security: [],
    requestBody: bodyDoc(SignUpSchema),
    responses: {
      201: dataDoc("Made", AccountSchema),
      ...problemDocs({
        ...BODY_PROBLEMS,
        403: "Signing up is disabled, or the request comes from a page of another origin",
        409: "Username or e-mail address taken",
        429: "Too many attempts from this address",
        503: "Too many passwords wait, or the store cannot be reached",
      }),
    },
  },
  signIn: {
    operationId: "signIn",
    tags: ["account"],
    summary: "Begin a session",
    security: [],
    requestBody: bodyDoc(SignInSchema),
    responses: {
      200: dataDoc("Begun", SessionSchema, COOKIE),
      ...problemDocs({
        ...BODY_PROBLEMS,
        401: "Username or password wrong",
        403: "The request comes from a page of another origin",
        429: "Too many failures of this account or from this address",
        503: "Too many passwords wait, or the store cannot be reached",
      }),
    },
  },
  changePassword: {
    operationId: "changePassword",
    tags: ["account"],
    summary: "Change your password",
    description: "The session of the token goes on; all others end, on every instance at once.",
    security: USER_SECURITY,
    requestBody: bodyDoc(PasswordChangeSchema),
    responses: {
      200: dataDoc("Changed", statusOf("PasswordChanged", "changed")),
      ...problemDocs({
        ...WRITER_PROBLEMS,
        ...BODY_PROBLEMS,
        401: "Token missing, invalid or expired, or the current password wrong",
        409: "The account has no password here",
        429: "Too many wrong passwords, or too many changes",
        503: "Too many passwords wait, or the store cannot be reached",
      }),
    },
  },
  signOutEverywhere: {
    operationId: "signOutEverywhere",
    tags: ["account"],
    summary: "End all your sessions",
    security: USER_SECURITY,
    responses: {
      200: dataDoc("Ended", statusOf("SignOutEverywhere", "ended"), COOKIE),
      ...problemDocs(USER_PROBLEMS),
    },
  },
  signOut: {
    operationId: "signOut",
    tags: ["account"],
    summary: "End the session of the token",
    security: USER_SECURITY,
    responses: {
      200: dataDoc("Ended", statusOf("SignOut", "ended"), COOKIE),
      ...problemDocs(USER_PROBLEMS),
    },
  },
};
