import { Elysia } from "elysia";
import { SESSION_TTL_SECONDS } from "../../../domain/shared/limits.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { type SignInDeps, signIn } from "../../../usecases/reputation/accounts/sign-in.ts";
import { signOut } from "../../../usecases/reputation/accounts/sign-out.ts";
import {
  requireSignUpEnabled,
  type SignUpDeps,
  signUp,
} from "../../../usecases/reputation/accounts/sign-up.ts";
import { clientAddress } from "../../client-address.ts";
import { dataReply } from "../../data-reply.ts";
import { exchangeOf } from "../../exchange.ts";
import { requireUser, SESSION_COOKIE } from "../../guards/bearer.ts";
import { readJsonObject } from "../../json-object-body.ts";
import { SESSION_DETAILS } from "./session-docs.ts";

/** What signup and sessions need. */
interface SessionRouteDeps extends SignInDeps, SignUpDeps, IdentityDeps {}

const COOKIE_RULES = "Path=/; HttpOnly; SameSite=Strict";

/** Signup, sign-in and sign-out. D-5.4. */
export function sessionRoutes(deps: SessionRouteDeps, trustedProxyHops: number) {
  const addressOf = (request: Request) => {
    const { connection } = exchangeOf(request);
    return clientAddress(request.headers, { connection, trustedHops: trustedProxyHops });
  };
  return new Elysia()
    .post(
      "/v1/signup",
      async ({ request }) => {
        requireSignUpEnabled(deps);
        const names = ["username", "email", "password", "display_name"];
        const body = await readJsonObject(request, names);
        return dataReply(deps.clock, await signUp(deps, body, addressOf(request)), { status: 201 });
      },
      { parse: "none", detail: SESSION_DETAILS.signUp },
    )
    .post(
      "/v1/sessions",
      async ({ request }) => {
        const body = await readJsonObject(request, ["username", "password"]);
        const session = await signIn(deps, body, addressOf(request));
        const cookie = `${SESSION_COOKIE}=${session.token}; Max-Age=${SESSION_TTL_SECONDS}`;
        const headers = { "Set-Cookie": `${cookie}; ${COOKIE_RULES}` };
        return dataReply(deps.clock, session, { headers });
      },
      { parse: "none", detail: SESSION_DETAILS.signIn },
    )
    .delete(
      "/v1/sessions/current",
      async ({ request }) => {
        const { session } = await requireUser(deps, request.headers);
        await signOut(deps, session);
        const headers = { "Set-Cookie": `${SESSION_COOKIE}=; Max-Age=0; ${COOKIE_RULES}` };
        return dataReply(deps.clock, { status: "ended" }, { headers });
      },
      { parse: "none", detail: SESSION_DETAILS.signOut },
    );
}
