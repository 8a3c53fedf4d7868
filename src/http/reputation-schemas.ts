// Bodies of the reputation interface, as the OpenAPI document shows them.
import { type TSchema, Type } from "@sinclair/typebox";
import { ROLES } from "../domain/account.ts";
import {
  MAX_API_KEY_NAME_CHARS,
  MAX_EMAIL_CHARS,
  MAX_PASSWORD_CHARS,
  MAX_PLAN_NUMBER,
  MAX_PROFILE_TEXT_CHARS,
  MAX_ROTATION_OVERLAP_SECONDS,
  MIN_PASSWORD_CHARS,
} from "../domain/limits.ts";
import { CONSENT_PURPOSES, CONSENT_STATUSES } from "../domain/reputation/consent.ts";
import { PLAN_NAMES } from "../domain/reputation/plan.ts";
import { PROBLEM_CODES } from "../domain/reputation/problem.ts";
import { Count, exact, oneOf, Text, Time } from "./schema-parts.ts";

const NullableTime = Type.Union([Time, Type.Null()]);
const NullableCount = Type.Union([Count, Type.Null()]);
const NullableProfileText = Type.Optional(
  Type.Union([Type.String({ maxLength: MAX_PROFILE_TEXT_CHARS }), Type.Null()]),
);
const PlanNumber = Type.Integer({ minimum: 1, maximum: MAX_PLAN_NUMBER });
/** Whom the examples of requests are about. */
const NEWCOMER = { username: "ana", password: "a password of ana" };

/** D-5.1. */
export const Meta = Type.Object({ timestamp: Time, version: Type.Literal("v1") }, exact);

/** `{success, data, meta}`., D-5.1. */
export function envelopeOf(data: TSchema): TSchema {
  return Type.Object({ success: Type.Literal(true), data, meta: Meta }, exact);
}

/** */
export const Reputation = Type.Object(
  {
    username: Text,
    score: Type.Integer({ minimum: 0, maximum: 100 }),
    star_level: Type.Integer({ minimum: 1, maximum: 5 }),
    verified_platforms: Count,
    updated_at: Time,
  },
  exact,
);

const PROFILE = {
  username: Text,
  display_name: Text,
  bio: Text,
  profession: Text,
  location: Text,
  verified: Type.Boolean(),
};

/** */
export const Profile = Type.Object(PROFILE, exact);

/** A profile as its owner sees it. */
export const OwnProfile = Type.Object({ ...PROFILE, public: Type.Boolean() }, exact);

/** */
export const PlatformList = Type.Array(
  Type.Object(
    { platform: Text, handle: Text, verified: Type.Boolean(), last_synced_at: Time },
    exact,
  ),
);

/** */
export const Consent = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    purpose: oneOf(CONSENT_PURPOSES),
    granted_at: Time,
    expires_at: NullableTime,
    status: oneOf(CONSENT_STATUSES),
  },
  exact,
);

/** D-6.1. */
export const ConsentGrant = Type.Object(
  { purpose: oneOf(CONSENT_PURPOSES), expires_at: Type.Optional(NullableTime) },
  { ...exact, examples: [{ purpose: "reputation_lookup" }] },
);

/** D-5.4. */
export const Account = Type.Object(
  {
    username: Text,
    email: Text,
    plan: oneOf(PLAN_NAMES),
    role: oneOf(ROLES),
  },
  exact,
);

/** D-5.4. */
export const SignUp = Type.Object(
  {
    username: Type.String({ pattern: "^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$" }),
    email: Type.String({ format: "email", maxLength: MAX_EMAIL_CHARS }),
    password: Type.String({ minLength: MIN_PASSWORD_CHARS, maxLength: MAX_PASSWORD_CHARS }),
    display_name: NullableProfileText,
  },
  { ...exact, examples: [{ ...NEWCOMER, email: "ana@example.com", display_name: "Ana" }] },
);

/** D-5.4. */
export const SignIn = Type.Object(
  { username: Type.String({ minLength: 1 }), password: Type.String({ minLength: 1 }) },
  { ...exact, examples: [NEWCOMER] },
);

/** D-5.4. */
export const Session = Type.Object(
  {
    token: Type.String({ description: "A JWT, good for an hour" }),
    token_type: Type.Literal("Bearer"),
    expires_at: Time,
    role: oneOf(ROLES),
  },
  exact,
);

const API_KEY = {
  id: Text,
  name: Text,
  prefix: Type.Literal("rep_live_"),
  last4: Text,
  status: oneOf(["active", "expired", "revoked"]),
  created_at: Time,
  expires_at: NullableTime,
};

/** D-5.5. */
export const ApiKey = Type.Object(API_KEY, exact);

/** D-5.5. */
export const IssuedApiKey = Type.Object(
  { ...API_KEY, key: Type.String({ description: "The key itself, shown this once" }) },
  exact,
);

/** D-5.5. */
export const ApiKeyRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: MAX_API_KEY_NAME_CHARS }),
    expires_at: Type.Optional(NullableTime),
  },
  { ...exact, examples: [{ name: "shop" }] },
);

/** D-5.5. */
export const Rotation = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_ROTATION_OVERLAP_SECONDS, default: 0 }),
    ),
  },
  exact,
);

/** D-5.5. */
export const ProfileChange = Type.Object(
  {
    display_name: NullableProfileText,
    bio: NullableProfileText,
    profession: NullableProfileText,
    location: NullableProfileText,
    public: Type.Optional(Type.Boolean()),
  },
  { ...exact, examples: [{ bio: "Woodworker" }] },
);

/** D-6.6. */
export const Explanation = Type.Object(
  {
    username: Text,
    score: Type.Integer({ minimum: 0, maximum: 100 }),
    star_level: Type.Integer({ minimum: 1, maximum: 5 }),
    score_version: Text,
    updated_at: Time,
    points: Type.Array(Type.Object({ platform: Text, points: Type.Number() }, exact)),
  },
  exact,
);

const Limit = Type.Object(
  { limit: NullableCount, used: Count, remaining: NullableCount, reset_at: Time },
  exact,
);

/** D-5.5. */
export const Usage = Type.Object({ plan: oneOf(PLAN_NAMES), minute: Limit, month: Limit }, exact);

/** D-5.5. */
export const Access = Type.Object(
  {
    id: Text,
    at: Time,
    account: Type.String({ description: "Empty when that account is erased" }),
    purpose: oneOf(CONSENT_PURPOSES),
    decision: oneOf(["allowed", "denied"]),
    code: Type.Union([oneOf(PROBLEM_CODES), Type.Null()]),
    request_id: Text,
  },
  exact,
);

/** D-5.7. */
export const PlanChange = Type.Object(
  {
    plan: oneOf(PLAN_NAMES),
    calls_per_month: Type.Optional(Type.Union([PlanNumber, Type.Null()])),
    rate_limit_per_minute: Type.Optional(Type.Union([PlanNumber, Type.Null()])),
  },
  { ...exact, examples: [{ plan: "business" }] },
);

/** D-5.7. */
export const Plan = Type.Object(
  {
    username: Text,
    plan: oneOf(PLAN_NAMES),
    calls_per_month: NullableCount,
    rate_limit_per_minute: NullableCount,
  },
  exact,
);

/** What a `DELETE` without a body of its own answers. */
export function statusOf(word: string): TSchema {
  return Type.Object({ status: Type.Literal(word) }, exact);
}

/** D-5.2, RFC 9457. */
export const Problem = Type.Object(
  {
    success: Type.Literal(false),
    type: Type.String({ description: "urn:repsync:problem:<code>" }),
    title: Text,
    status: Type.Integer(),
    detail: Text,
    code: oneOf(PROBLEM_CODES),
    request_id: Text,
    errors: Type.Optional(Type.Array(Type.Object({ pointer: Text, detail: Text }, exact))),
    meta: Meta,
  },
  exact,
);
