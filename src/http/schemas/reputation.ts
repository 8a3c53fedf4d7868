// Bodies of lookups and profiles, and what all replies of the reputation interface are wrapped in.
import { type TSchema, Type } from "@sinclair/typebox";
import { PROBLEM_CODES } from "../errors.ts";
import { Count, model, oneOf, Text, Time } from "./parts.ts";

/** D-5.1. */
const Meta = model("Meta", { timestamp: Time, version: Type.Literal("v1") });

/** `{success, data, meta}`., D-5.1. */
export function envelopeOf(data: TSchema): TSchema {
  return model(`${data.$id}Reply`, { success: Type.Literal(true), data, meta: Meta });
}

/** */
export const Reputation = model("Reputation", {
  username: Text,
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  star_level: Type.Integer({ minimum: 1, maximum: 5 }),
  verified_platforms: Count,
  updated_at: Time,
});

const PROFILE = {
  username: Text,
  display_name: Text,
  bio: Text,
  profession: Text,
  location: Text,
  verified: Type.Boolean(),
};

/** */
export const Profile = model("Profile", PROFILE);

/** A profile as its owner sees it. */
export const OwnProfile = model("OwnProfile", { ...PROFILE, public: Type.Boolean() });

/** */
export const PlatformList = Type.Array(
  model("Platform", {
    platform: Text,
    handle: Text,
    verified: Type.Boolean(),
    last_synced_at: Time,
  }),
  { $id: "PlatformList" },
);

/** D-6.6. */
export const Explanation = model("Explanation", {
  username: Text,
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  star_level: Type.Integer({ minimum: 1, maximum: 5 }),
  score_version: Text,
  updated_at: Time,
  points: Type.Array(model("PlatformPoints", { platform: Text, points: Type.Number() })),
});

/** D-5.2, RFC 9457. */
export const Problem = model("Problem", {
  success: Type.Literal(false),
  type: Type.String({ description: "urn:repsync:problem:<code>" }),
  title: Text,
  status: Type.Integer(),
  detail: Text,
  code: oneOf(PROBLEM_CODES),
  request_id: Text,
  errors: Type.Optional(Type.Array(model("FieldProblem", { pointer: Text, detail: Text }))),
  meta: Meta,
});
