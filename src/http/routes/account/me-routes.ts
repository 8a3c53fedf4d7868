import { Elysia } from "elysia";
import { accountBody } from "../../../domain/reputation/accounts/account.ts";
import { PROFILE_FIELDS } from "../../../domain/reputation/accounts/profile-changes.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import {
  changeProfile,
  explainScore,
  listAccesses,
  readUsage,
} from "../../../usecases/reputation/accounts/me.ts";
import { dataReply } from "../../data-reply.ts";
import { requireUser, requireUsername } from "../../guards/bearer.ts";
import { ME_DETAILS } from "./me-docs.ts";
import { readUserBody } from "./read-user-body.ts";

/** What the routes of the signed-in user need. */
type MeRouteDeps = IdentityDeps &
  Pick<AccountDeps, "usage" | "audit" | "profiles" | "membership" | "clock">;

/** `/v1/me` without keys and consents. D-5.5, D-6.6. */
export function meRoutes(deps: MeRouteDeps) {
  const nameOf = (request: Request) => requireUsername(deps, request.headers);
  return new Elysia()
    .get(
      "/v1/me",
      async ({ request }) => {
        const { account, role } = await requireUser(deps, request.headers);
        return dataReply(deps.clock, accountBody({ ...account, role }));
      },
      { detail: ME_DETAILS.account },
    )
    .delete(
      "/v1/me",
      async ({ request }) => {
        await deps.membership.erase(await nameOf(request));
        return dataReply(deps.clock, { status: "erased" });
      },
      { parse: "none", detail: ME_DETAILS.erase },
    )
    .patch(
      "/v1/me/profile",
      async ({ request }) => {
        const { username, body } = await readUserBody(deps, request, PROFILE_FIELDS);
        return dataReply(deps.clock, await changeProfile(deps, username, body));
      },
      { parse: "none", detail: ME_DETAILS.profile },
    )
    .get(
      "/v1/me/reputation",
      async ({ request }) => dataReply(deps.clock, await explainScore(deps, await nameOf(request))),
      { detail: ME_DETAILS.reputation },
    )
    .get(
      "/v1/me/usage",
      async ({ request }) => {
        const { account } = await requireUser(deps, request.headers);
        return dataReply(deps.clock, await readUsage(deps, account));
      },
      { detail: ME_DETAILS.usage },
    )
    .get(
      "/v1/me/accesses",
      async ({ request, query }) =>
        dataReply(deps.clock, await listAccesses(deps, await nameOf(request), query)),
      { detail: ME_DETAILS.accesses },
    );
}
