import type { TSchema } from "@sinclair/typebox";
import {
  API_KEY_SECURITY,
  dataDoc,
  problemDocs,
  RATE_LIMIT_HEADERS,
  USERNAME,
} from "../../reputation-docs.ts";
import { PlatformList, Profile, Reputation } from "../../reputation-schemas.ts";

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

/** Documents of the three lookups. */
export const LOOKUP_DETAILS = {
  reputation: lookupDetail({
    id: "lookUpReputation",
    summary: "Score, star level and number of verified platforms",
    purpose: "reputation_lookup",
    data: Reputation,
  }),
  profile: lookupDetail({
    id: "lookUpProfile",
    summary: "Profile data",
    purpose: "profile_lookup or reputation_lookup",
    data: Profile,
  }),
  platforms: lookupDetail({
    id: "listPlatforms",
    summary: "Verified platforms",
    purpose: "platforms_lookup or reputation_lookup",
    data: PlatformList,
  }),
};
