// Bodies of accounts: signing up and in, keys, consents, usage and plans., D-5.4, D-5.5, D-5.7, D-6.1.
import { type TSchema, Type } from "@sinclair/typebox";
import {
  isEmail,
  isPassword,
  isSignUpUsername,
  ROLES,
  SIGN_UP_USERNAME,
} from "../../domain/reputation/accounts/account.ts";
import { KEPT_DAYS } from "../../domain/reputation/accounts/call-history.ts";
import {
  CONSENT_PURPOSES,
  CONSENT_STATUSES,
  NO_EXPIRY,
} from "../../domain/reputation/accounts/consent.ts";
import { PLAN_NAMES } from "../../domain/reputation/accounts/plan.ts";
import {
  MAX_API_KEY_NAME_CHARS,
  MAX_EMAIL_CHARS,
  MAX_PASSWORD_CHARS,
  MAX_PLAN_NUMBER,
  MAX_PROFILE_TEXT_CHARS,
  MAX_ROTATION_OVERLAP_SECONDS,
  MIN_PASSWORD_CHARS,
} from "../../domain/shared/limits.ts";
import { hasControlCharacter, isTextOf } from "../../domain/shared/text.ts";
import { parseDateTime } from "../../domain/shared/time.ts";
import {
  Count,
  checked,
  counted,
  model,
  nullable,
  oneOf,
  only,
  PROBLEM_CODES,
  someText,
  Text,
  Time,
} from "./parts.ts";

const NullableTime = nullable(Time);
const NullableCount = nullable(Count);
const NewPassword = checked<string>(
  { type: "string", minLength: MIN_PASSWORD_CHARS, maxLength: MAX_PASSWORD_CHARS },
  isPassword,
  `Must be a text of ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
);
/** Patterns of texts without control characters; those of `LINES` may have line breaks and tabs. */
const LINE = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
const LINES = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$";
const ProfileLine = profileText(LINE, "control characters");
const ProfileLines = profileText(LINES, "control characters but line breaks and tabs");
/** Shown in lists and on terminals. D-11.3. */
const ApiKeyName = checked<string>(
  { type: "string", minLength: 1, maxLength: MAX_API_KEY_NAME_CHARS, pattern: LINE },
  (value) => isTextOf(value, 1, MAX_API_KEY_NAME_CHARS) && !hasControlCharacter(value),
  `Must be a text of 1 to ${MAX_API_KEY_NAME_CHARS} characters without control characters`,
);
/** The use case checks that it is in the future. */
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
const NEWCOMER = { username: "ana", password: "a password of ana" };

export const ConsentSchema = model("Consent", {
  id: Type.Integer({ minimum: 1 }),
  purpose: oneOf(CONSENT_PURPOSES),
  granted_at: Time,
  expires_at: NullableTime,
  status: oneOf(CONSENT_STATUSES),
});

export const ConsentGrantSchema = model(
  "ConsentGrant",
  { purpose: oneOf(CONSENT_PURPOSES), expires_at: Expiry },
  { examples: [{ purpose: "reputation_lookup" }] },
);

export const AccountSchema = model("Account", {
  username: Text,
  email: Text,
  plan: oneOf(PLAN_NAMES),
  role: oneOf(ROLES),
});

export const SignUpSchema = model(
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
    password: NewPassword,
    display_name: ProfileLine,
  },
  { examples: [{ ...NEWCOMER, email: "ana@example.com", display_name: "Ana" }] },
);

export const SignUpStateSchema = model("SignUpState", {
  enabled: Type.Boolean({ description: "Whether people may sign up" }),
  identity_provider: nullable(Text, {
    description: "Issuer of the identity provider whose tokens are accepted too",
  }),
  administrator_exists: Type.Boolean(),
});

export const PasswordChangeSchema = model("PasswordChange", {
  current_password: someText(),
  new_password: NewPassword,
});

export const SignInSchema = model(
  "SignIn",
  { username: someText(), password: someText() },
  { examples: [NEWCOMER] },
);

export const SessionSchema = model("Session", {
  token: Type.String({ description: "A JWT, good for an hour" }),
  token_type: Type.Literal("Bearer"),
  expires_at: Time,
  role: oneOf(ROLES),
});

const API_KEY = {
  id: Text,
  name: Text,
  prefix: Type.Unsafe<string>(Type.Literal("rep_live_")),
  last4: Text,
  status: oneOf(["active", "expired", "revoked"]),
  created_at: Time,
  expires_at: NullableTime,
  /** To the minute; null when the key was not used yet. */
  last_used_at: NullableTime,
};

export const ApiKeySchema = model("ApiKey", API_KEY);

export const IssuedApiKeySchema = model("IssuedApiKey", {
  ...API_KEY,
  key: Type.String({ description: "The key itself, shown this once" }),
});

export const ApiKeyRequestSchema = model(
  "ApiKeyRequest",
  { name: ApiKeyName, expires_at: Expiry },
  { examples: [{ name: "shop" }] },
);

export const RotationSchema = model("Rotation", {
  overlap_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_ROTATION_OVERLAP_SECONDS, default: 0 }),
  ),
});

export const ProfileChangeSchema = model(
  "ProfileChange",
  {
    display_name: ProfileLine,
    bio: ProfileLines,
    profession: ProfileLine,
    location: ProfileLine,
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

const DayCalls = only({
  date: Type.String({ format: "date" }),
  calls: counted("Those that count against the limits"),
  denied: counted("Those of them answered 403 or 404"),
});

export const UsageSchema = model("Usage", {
  plan: oneOf(PLAN_NAMES),
  minute: Limit,
  month: Limit,
  days: Type.Array(DayCalls, {
    description: `The last ${KEPT_DAYS} days in UTC, the oldest first`,
  }),
});

export const AccessSchema = model("Access", {
  id: Text,
  at: Time,
  account: Type.String({ description: "Empty when that account is erased" }),
  purpose: oneOf(CONSENT_PURPOSES),
  decision: oneOf(["allowed", "denied"]),
  code: nullable(oneOf(PROBLEM_CODES)),
  request_id: Text,
});

export const PlanChangeSchema = model(
  "PlanChange",
  {
    plan: oneOf(PLAN_NAMES),
    calls_per_month: Type.Optional(nullable(PlanNumber)),
    rate_limit_per_minute: Type.Optional(nullable(PlanNumber)),
  },
  { examples: [{ plan: "business" }] },
);

export const PlanSchema = model("Plan", {
  username: Text,
  plan: oneOf(PLAN_NAMES),
  calls_per_month: NullableCount,
  rate_limit_per_minute: NullableCount,
});

const ACCOUNT_ITEM = {
  username: Text,
  email: Type.String({ description: "Empty when there is none" }),
  role: oneOf(ROLES),
  plan: oneOf(PLAN_NAMES),
  status: oneOf(["active", "suspended"]),
  created_at: Time,
  last_sign_in_at: nullable({ ...Time, description: "With a password here" }),
};

export const AccountItemSchema = model("AccountItem", ACCOUNT_ITEM);

export const AccountUsageSchema = model("AccountUsage", { ...ACCOUNT_ITEM, usage: UsageSchema });

export const PasswordResetSchema = model("PasswordReset", { new_password: NewPassword });

/** A text of a profile, or null; texts that arrive by sync are not checked. D-11.3. */
function profileText(pattern: string, refused: string) {
  const shape = new RegExp(pattern);
  return Type.Optional(
    checked<string | null>(
      { type: ["string", "null"], maxLength: MAX_PROFILE_TEXT_CHARS, pattern },
      (value) =>
        value === null || (isTextOf(value, 0, MAX_PROFILE_TEXT_CHARS) && shape.test(value)),
      `Must be a text of at most ${MAX_PROFILE_TEXT_CHARS} characters without ${refused}, or null`,
    ),
  );
}

/** The reply about an act on a name or an account. */
export function doneSchema(name: string, word: string): TSchema {
  return model(name, { username: Text, status: Type.Literal(word) });
}

/** The reply to a `DELETE` that has no data of its own. */
export function statusOf(name: string, word: string): TSchema {
  return model(name, { status: Type.Literal(word) });
}
