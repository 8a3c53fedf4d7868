import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { LookupEndpoint } from "../../../domain/reputation/accounts/consent.ts";
import type { Lookups } from "../../../usecases/reputation/lookups/look-up.ts";
import { exchangeOf } from "../../exchange.ts";
import {
  API_KEY_SECURITY,
  dataDoc,
  problemDocs,
  RATE_LIMIT_HEADERS,
  USERNAME,
} from "../../operation-docs.ts";
import { PlatformListSchema, ProfileSchema, ReputationSchema } from "../../schemas/reputation.ts";
import { lookupReply } from "./lookup-reply.ts";

const PROFILE = "/v1/public/profiles/:username";

/** `/v1/public/profiles/{username}` and below. R-4, D-5.8. */
export function lookupRoutes(lookups: Lookups) {
  const answer =
    (endpoint: LookupEndpoint) =>
    async ({ request, params }: { request: Request; params: { username: string } }) => {
      const exchange = exchangeOf(request);
      const { requestId, tracing } = exchange;
      const apiKey = request.headers.get("x-api-key");
      const { username } = params;
      const wanted = { apiKey, endpoint, username, requestId };
      const reply = await tracing.inSpan("lookUp", () => lookups.lookUp(wanted));
      exchange.hasCommonHeaders = true;
      return lookupReply(reply, requestId);
    };
  return new Elysia()
    .get(`${PROFILE}/reputation`, answer("reputation"), { detail: LOOKUP_DETAILS.reputation })
    .get(PROFILE, answer("profile"), { detail: LOOKUP_DETAILS.profile })
    .get(`${PROFILE}/platforms`, answer("platforms"), { detail: LOOKUP_DETAILS.platforms });
}

function lookupDetail(of: { id: string; summary: string; purpose: string; data: TSchema }) {
  return {
    operationId: of.id,
    tags: ["reputation"],
    summary: of.summary,
    description: `Needs an active consent of the profile's owner: ${of.purpose}. Every call is audited.`,
    security: API_KEY_SECURITY,
    parameters: [USERNAME],
    responses: {
      200: dataDoc("Allowed", of.data, RATE_LIMIT_HEADERS),
      ...problemDocs(
        {
          401: "API key missing, invalid, revoked or expired",
          403: "No active consent",
          404: "No public profile of this name",
          429: "Calls of this minute or month are used up",
        },
        { 403: RATE_LIMIT_HEADERS, 404: RATE_LIMIT_HEADERS, 429: RATE_LIMIT_HEADERS },
      ),
    },
  };
}

const LOOKUP_DETAILS = {
  reputation: lookupDetail({
    id: "lookUpReputation",
    summary: "Score, star level and number of verified platforms",
    purpose: "reputation_lookup",
    data: ReputationSchema,
  }),
  profile: lookupDetail({
    id: "lookUpProfile",
    summary: "Profile data",
    purpose: "profile_lookup or reputation_lookup",
    data: ProfileSchema,
  }),
  platforms: lookupDetail({
    id: "listPlatforms",
    summary: "Verified platforms",
    purpose: "platforms_lookup or reputation_lookup",
    data: PlatformListSchema,
  }),
};
