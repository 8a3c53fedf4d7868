// `/v1/public/profiles/{username}` and below. R-4, D-5.8.
import type { TSchema } from "@sinclair/typebox";
import type { LookupEndpoint } from "../../../domain/reputation/accounts/consent.ts";
import type { Lookups } from "../../../usecases/reputation/lookups/look-up.ts";
import { ANYBODY, type Guard } from "../../description.ts";
import { type Operation, operation } from "../../operation.ts";
import { USERNAME } from "../../schemas/parts.ts";
import { PlatformListSchema, ProfileSchema, ReputationSchema } from "../../schemas/reputation.ts";
import { lookup, RATE_LIMIT_DOCS } from "./lookup-reply.ts";

const PROFILE = "/v1/public/profiles/:username";

interface Lookup {
  readonly endpoint: LookupEndpoint;
  readonly path: `/${string}`;
  readonly id: string;
  readonly summary: string;
  /** Consents that allow it. */
  readonly purpose: string;
  readonly data: TSchema;
}

const LOOKUPS: readonly Lookup[] = [
  {
    endpoint: "reputation",
    path: `${PROFILE}/reputation`,
    id: "lookUpReputation",
    summary: "Score, star level and number of verified platforms",
    purpose: "reputation_lookup",
    data: ReputationSchema,
  },
  {
    endpoint: "profile",
    path: PROFILE,
    id: "lookUpProfile",
    summary: "Profile data",
    purpose: "profile_lookup or reputation_lookup",
    data: ProfileSchema,
  },
  {
    endpoint: "platforms",
    path: `${PROFILE}/platforms`,
    id: "listPlatforms",
    summary: "Verified platforms",
    purpose: "platforms_lookup or reputation_lookup",
    data: PlatformListSchema,
  },
];

/** The key is checked with everything else that decides a lookup, in one commit. D-5.8. */
const API_KEY: Guard<null> = {
  security: [{ apiKey: [] }],
  failures: {
    401: "API key missing, invalid, revoked or expired",
    403: { text: "No active consent", headers: RATE_LIMIT_DOCS },
    404: { text: "No public profile of this name", headers: RATE_LIMIT_DOCS },
    429: { text: "Calls of this minute or month are used up", headers: RATE_LIMIT_DOCS },
  },
  admit: () => ANYBODY,
};

export function lookupRoutes(lookups: Lookups): Operation[] {
  return LOOKUPS.map(({ endpoint, path, id, summary, purpose, data }) =>
    operation({
      at: `GET ${path}`,
      id,
      summary,
      description: `Needs an active consent of the profile's owner: ${purpose}. Every call is audited.`,
      guard: API_KEY,
      params: USERNAME,
      replies: { 200: lookup("Allowed", data) },
      run: ({ params: { username }, exchange: { request, requestId } }) => {
        const apiKey = request.headers.get("x-api-key");
        return lookups.lookUp({ apiKey, endpoint, username, requestId });
      },
    }),
  );
}
