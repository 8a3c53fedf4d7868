// Bodies of accounts: signing up and in, keys, consents, usage and plans.
import { type TSchema, Type } from "@sinclair/typebox";
import { isEmail } from "../../domain/reputation/accounts/account.ts";
import { CONSENT_PURPOSES, CONSENT_STATUSES } from "../../domain/reputation/accounts/consent.ts";
import { NO_EXPIRY } from "../../domain/reputation/accounts/expiry.ts";
import { PLAN_NAMES } from "../../domain/reputation/accounts/plan.ts";
import { ROLES } from "../../domain/reputation/accounts/roles.ts";
import { isSignUpUsername, SIGN_UP_USERNAME } from "../../domain/reputation/accounts/username.ts";
import {
  MAX_API_KEY_NAME_CHARS,
  MAX_EMAIL_CHARS,
  MAX_PASSWORD_CHARS,
  MAX_PLAN_NUMBER,
  MAX_PROFILE_TEXT_CHARS,
  MAX_ROTATION_OVERLAP_SECONDS,
  MIN_PASSWORD_CHARS,
} from "../../domain/shared/limits.ts";
import { isTextOf } from "../../domain/shared/text.ts";
import { parseDateTime } from "../../domain/shared/time.ts";
import { PROBLEM_CODES } from "../errors.ts";
import { Count, checked, model, nullable, oneOf, someText, Text, Time, textOf } from "./parts.ts";

const NullableTime = nullable(Time);
const NullableCount = nullable(Count);
const ProfileText = Type.Optional(
  checked<string | null>(
    { type: ["string", "null"], maxLength: MAX_PROFILE_TEXT_CHARS },
    (value) => value === null || isTextOf(value, { minChars: 0, maxChars: MAX_PROFILE_TEXT_CHARS }),
    `Must be a text of at most ${MAX_PROFILE_TEXT_CHARS} characters, or null`,
  ),
);
/** `expires_at` of what somebody asks for; whether it is ahead the use case says. */
const Expiry = Type.Optional(
  nullable(
    checked<string>(
      { ...Time },
      (value) => typeof value === "string" && parseDateTime(value) !== null,
      NO_EXPIRY,
    ),
  ),
);
const PlanNumber = Type.Integer({ minimum: 1, maximum: MAX_PLAN_NUMBER });
/** Whom the examples of requests are about. */
const NEWCOMER = { username: "ana", password: "a password of ana" };

/** */
export const Consent = model("Consent", {
  id: Type.Integer({ minimum: 1 }),
  purpose: oneOf(CONSENT_PURPOSES),
  granted_at: Time,
  expires_at: NullableTime,
  status: oneOf(CONSENT_STATUSES),
});

/** D-6.1. */
export const ConsentGrant = model(
  "ConsentGrant",
  { purpose: oneOf(CONSENT_PURPOSES), expires_at: Expiry },
  { examples: [{ purpose: "reputation_lookup" }] },
);

/** D-5.4. */
export const Account = model("Account", {
  username: Text,
  email: Text,
  plan: oneOf(PLAN_NAMES),
  role: oneOf(ROLES),
});

/** D-5.4. */
export const SignUp = model(
  "SignUp",
  {
    username: checked<string>(
      { type: "string", pattern: SIGN_UP_USERNAME.source },
      isSignUpUsername,
      "Must be 1 to 40 characters of a-z, 0-9, _ and -, the first and last a letter or a digit",
    ),
    email: checked<string>(
      { type: "string", format: "email", maxLength: MAX_EMAIL_CHARS },
      isEmail,
      "Must be an e-mail address",
    ),
    password: textOf(MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS),
    display_name: ProfileText,
  },
  { examples: [{ ...NEWCOMER, email: "ana@example.com", display_name: "Ana" }] },
);

/** D-5.4. */
export const SignIn = model(
  "SignIn",
  { username: someText(), password: someText() },
  { examples: [NEWCOMER] },
);

/** D-5.4. */
export const Session = model("Session", {
  token: Type.String({ description: "A JWT, good for an hour" }),
  token_type: Type.Literal("Bearer"),
  expires_at: Time,
  role: oneOf(ROLES),
});

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
export const ApiKey = model("ApiKey", API_KEY);

/** D-5.5. */
export const IssuedApiKey = model("IssuedApiKey", {
  ...API_KEY,
  key: Type.String({ description: "The key itself, shown this once" }),
});

/** D-5.5. */
export const ApiKeyRequest = model(
  "ApiKeyRequest",
  {
    name: textOf(1, MAX_API_KEY_NAME_CHARS),
    expires_at: Expiry,
  },
  { examples: [{ name: "shop" }] },
);

/** D-5.5. */
export const Rotation = model("Rotation", {
  overlap_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_ROTATION_OVERLAP_SECONDS, default: 0 }),
  ),
});

/** D-5.5. */
export const ProfileChange = model(
  "ProfileChange",
  {
    display_name: ProfileText,
    bio: ProfileText,
    profession: ProfileText,
    location: ProfileText,
    public: Type.Optional(Type.Boolean()),
  },
  { examples: [{ bio: "Woodworker" }] },
);

const Limit = model("Limit", {
  limit: NullableCount,
  used: Count,
  remaining: NullableCount,
  reset_at: Time,
});

/** D-5.5. */
export const Usage = model("Usage", { plan: oneOf(PLAN_NAMES), minute: Limit, month: Limit });

/** D-5.5. */
export const Access = model("Access", {
  id: Text,
  at: Time,
  account: Type.String({ description: "Empty when that account is erased" }),
  purpose: oneOf(CONSENT_PURPOSES),
  decision: oneOf(["allowed", "denied"]),
  code: nullable(oneOf(PROBLEM_CODES)),
  request_id: Text,
});

/** D-5.7. */
export const PlanChange = model(
  "PlanChange",
  {
    plan: oneOf(PLAN_NAMES),
    calls_per_month: Type.Optional(nullable(PlanNumber)),
    rate_limit_per_minute: Type.Optional(nullable(PlanNumber)),
  },
  { examples: [{ plan: "business" }] },
);

/** D-5.7. */
export const Plan = model("Plan", {
  username: Text,
  plan: oneOf(PLAN_NAMES),
  calls_per_month: NullableCount,
  rate_limit_per_minute: NullableCount,
});

/** What a `DELETE` without a body of its own answers. */
export function statusOf(name: string, word: string): TSchema {
  return model(name, { status: Type.Literal(word) });
}
