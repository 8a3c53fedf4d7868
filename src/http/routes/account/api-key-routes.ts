import { Elysia } from "elysia";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import {
  issueApiKey,
  type NewKeyDeps,
} from "../../../usecases/reputation/accounts/issue-api-key.ts";
import { listApiKeys } from "../../../usecases/reputation/accounts/list-api-keys.ts";
import { revokeApiKey } from "../../../usecases/reputation/accounts/revoke-api-key.ts";
import { rotateApiKey } from "../../../usecases/reputation/accounts/rotate-api-key.ts";
import { dataReply } from "../../data-reply.ts";
import { requireUsername } from "../../guards/bearer.ts";
import { API_KEY_DETAILS } from "./api-key-docs.ts";
import { readUserBody } from "./read-user-body.ts";

/** What the routes of API keys need. */
type ApiKeyRouteDeps = IdentityDeps & NewKeyDeps & Pick<AccountDeps, "apiKeys" | "clock">;

/** `/v1/me/api-keys`. D-5.5, D-5.6. */
export function apiKeyRoutes(deps: ApiKeyRouteDeps) {
  const nameOf = (request: Request) => requireUsername(deps, request.headers);
  return new Elysia()
    .get(
      "/v1/me/api-keys",
      async ({ request, query }) =>
        dataReply(deps.clock, await listApiKeys(deps, await nameOf(request), query)),
      { detail: API_KEY_DETAILS.list },
    )
    .post(
      "/v1/me/api-keys",
      async ({ request }) => {
        const { username, body } = await readUserBody(deps, request, ["name", "expires_at"]);
        return dataReply(deps.clock, await issueApiKey(deps, username, body), { status: 201 });
      },
      { parse: "none", detail: API_KEY_DETAILS.issue },
    )
    .delete(
      "/v1/me/api-keys/:id",
      async ({ request, params }) =>
        dataReply(deps.clock, await revokeApiKey(deps, await nameOf(request), params.id)),
      { parse: "none", detail: API_KEY_DETAILS.revoke },
    )
    .post(
      "/v1/me/api-keys/:id/rotate",
      async ({ request, params: { id } }) => {
        const { username, body } = await readUserBody(deps, request, ["overlap_seconds"]);
        const issued = await rotateApiKey(deps, { username, id, body });
        return dataReply(deps.clock, issued, { status: 201 });
      },
      { parse: "none", detail: API_KEY_DETAILS.rotate },
    );
}
