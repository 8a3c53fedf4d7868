import { Elysia } from "elysia";
import {
  endConsent,
  grantConsent,
  listConsents,
} from "../../../usecases/reputation/accounts/consents.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { dataReply } from "../../data-reply.ts";
import { requireUsername } from "../../guards/bearer.ts";
import { CONSENT_DETAILS } from "./consent-docs.ts";
import { readUserBody } from "./read-user-body.ts";

/** What the routes of consents need. */
type ConsentRouteDeps = IdentityDeps & Pick<AccountDeps, "consents" | "clock">;

/** `/v1/me/consents`. R-4, D-6.1. */
export function consentRoutes(deps: ConsentRouteDeps) {
  const nameOf = (request: Request) => requireUsername(deps, request.headers);
  return new Elysia()
    .get(
      "/v1/me/consents",
      async ({ request, query }) =>
        dataReply(deps.clock, await listConsents(deps, await nameOf(request), query)),
      { detail: CONSENT_DETAILS.list },
    )
    .post(
      "/v1/me/consents",
      async ({ request }) => {
        const { username, body } = await readUserBody(deps, request, ["purpose", "expires_at"]);
        return dataReply(deps.clock, await grantConsent(deps, username, body), { status: 201 });
      },
      { parse: "none", detail: CONSENT_DETAILS.grant },
    )
    .delete(
      "/v1/me/consents/:id",
      async ({ request, params }) =>
        dataReply(deps.clock, await endConsent(deps, await nameOf(request), params.id)),
      { parse: "none", detail: CONSENT_DETAILS.revoke },
    );
}
