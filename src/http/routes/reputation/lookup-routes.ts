import { Elysia } from "elysia";
import type { LookupEndpoint } from "../../../domain/reputation/accounts/consent.ts";
import type { Lookups } from "../../../usecases/reputation/lookups/look-up.ts";
import { exchangeOf } from "../../exchange.ts";
import { lookupReply } from "../../lookup-reply.ts";
import { LOOKUP_DETAILS } from "./lookup-docs.ts";

const PROFILE = "/v1/public/profiles/:username";

/** The three lookups. R-4, D-5.8. */
export function lookupRoutes(lookups: Lookups) {
  const answer =
    (endpoint: LookupEndpoint) =>
    async ({ request, params }: { request: Request; params: { username: string } }) => {
      const exchange = exchangeOf(request);
      const { requestId } = exchange;
      const apiKey = request.headers.get("x-api-key");
      const { username } = params;
      const reply = await lookups.lookUp({ apiKey, endpoint, username, requestId });
      exchange.hasCommonHeaders = true;
      return lookupReply(reply, requestId);
    };
  return new Elysia()
    .get(`${PROFILE}/reputation`, answer("reputation"), { detail: LOOKUP_DETAILS.reputation })
    .get(PROFILE, answer("profile"), { detail: LOOKUP_DETAILS.profile })
    .get(`${PROFILE}/platforms`, answer("platforms"), { detail: LOOKUP_DETAILS.platforms });
}
