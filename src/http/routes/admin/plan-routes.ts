import { Elysia } from "elysia";
import { changePlan } from "../../../usecases/reputation/accounts/change-plan.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { traced } from "../../exchange.ts";
import { readAdminRequest } from "../../guards/bearer.ts";
import {
  BODY_PROBLEMS,
  bodyDoc,
  dataDoc,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  USERNAME,
} from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import { PlanChangeSchema, PlanSchema } from "../../schemas/account.ts";

/** `PUT /v1/admin/accounts/{username}/plan`. D-5.7. */
export function planRoutes(deps: IdentityDeps & Pick<AccountDeps, "administration">) {
  return new Elysia().put(
    "/v1/admin/accounts/:username/plan",
    async ({ request, params }) => {
      const { body, asked } = await readAdminRequest(deps, request, PlanChangeSchema);
      const change = { username: params.username, ...body };
      return dataReply(deps.clock, await traced(request, changePlan)(deps, change, asked));
    },
    { parse: "none", detail: PLAN_DETAIL },
  );
}

const PLAN_DETAIL = {
  operationId: "changePlan",
  tags: ["administration"],
  summary: "Change an account's plan",
  security: USER_SECURITY,
  parameters: [USERNAME],
  requestBody: bodyDoc(PlanChangeSchema),
  responses: {
    200: dataDoc("The plan", PlanSchema),
    ...problemDocs({
      ...USER_PROBLEMS,
      ...BODY_PROBLEMS,
      403: "Not an administrator, or another issuer's account",
      404: "No such account",
    }),
  },
};
