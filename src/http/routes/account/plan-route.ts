import { Elysia } from "elysia";
import { changePlan } from "../../../usecases/reputation/accounts/change-plan.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { dataReply } from "../../data-reply.ts";
import { requireAdministrator, requireThenRead } from "../../guards/bearer.ts";
import { readJsonObject } from "../../json-object-body.ts";
import { PLAN_DETAIL } from "./plan-docs.ts";

const FIELDS = ["plan", "calls_per_month", "rate_limit_per_minute"];

/** `PUT /v1/admin/accounts/{username}/plan`. D-5.7. */
export function planRoute(deps: IdentityDeps) {
  return new Elysia().put(
    "/v1/admin/accounts/:username/plan",
    async ({ request, params }) => {
      const { body } = await requireThenRead(
        () => requireAdministrator(deps, request.headers),
        () => readJsonObject(request, FIELDS),
      );
      return dataReply(deps.clock, await changePlan(deps, params.username, body));
    },
    { parse: "none", detail: PLAN_DETAIL },
  );
}
