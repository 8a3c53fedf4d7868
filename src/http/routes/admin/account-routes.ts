import { Elysia } from "elysia";
import { releaseName } from "../../../usecases/reputation/accounts/administer.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { exchangeOf } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import {
  dataDoc,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  USERNAME,
} from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import { ReleaseSchema } from "../../schemas/account.ts";

type AccountRouteDeps = IdentityDeps & Pick<AccountDeps, "membership">;

/** `/v1/admin/accounts` but the plan. D-8.2, D-8.8. */
export function accountRoutes(deps: AccountRouteDeps) {
  return new Elysia().post(
    "/v1/admin/accounts/:username/release",
    async ({ request, params }) => {
      const { account } = await requireAdministrator(deps, request);
      const by = { by: account.username, requestId: exchangeOf(request).requestId };
      return dataReply(deps.clock, await releaseName(deps, params.username, by));
    },
    { parse: "none", detail: ACCOUNT_DETAILS.release },
  );
}

const shared = { tags: ["administration"], security: USER_SECURITY, parameters: [USERNAME] };

const ACCOUNT_DETAILS = {
  release: {
    ...shared,
    operationId: "releaseName",
    summary: "Make the name of an erased account free",
    description:
      "A name stays taken after an erasure, because it decides whose accounts elsewhere count. Release it for a new person only.",
    responses: {
      200: dataDoc("Released", ReleaseSchema),
      ...problemDocs({
        ...USER_PROBLEMS,
        403: "Not an administrator, or another issuer's account",
        404: "The name is not held by an erased account",
      }),
    },
  },
};
