// Bodies of lookups, profiles and the audit log. R-2, D-6.6, D-9.5.
import { Type } from "@sinclair/typebox";
import { CONSENT_PURPOSES } from "../../domain/reputation/accounts/consent.ts";
import { Count, model, nullable, oneOf, only, PROBLEM_CODES, Text, Time, union } from "./parts.ts";

export const ReputationSchema = model("Reputation", {
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

export const ProfileSchema = model("Profile", PROFILE);

export const OwnProfileSchema = model("OwnProfile", { ...PROFILE, public: Type.Boolean() });

export const PlatformListSchema = Type.Array(
  model("Platform", {
    platform: Text,
    handle: Text,
    verified: Type.Boolean(),
    last_synced_at: Time,
  }),
  { $id: "PlatformList" },
);

export const ExplanationSchema = model("Explanation", {
  username: Text,
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  star_level: Type.Integer({ minimum: 1, maximum: 5 }),
  score_version: Text,
  updated_at: Time,
  points: Type.Array(model("PlatformPoints", { platform: Text, points: Type.Number() })),
});

export const AuditItemSchema = model("AuditItem", {
  id: Text,
  at: Time,
  kind: oneOf(["lookup", "admin"]),
  account: Type.String({
    description:
      "The caller or administrator; empty when that account is gone, and for the command line",
  }),
  subject: nullable(Text, {
    description:
      "Whom it was about, where `account` of the query names them: the log itself has no names",
  }),
  purpose: nullable(oneOf(CONSENT_PURPOSES), { description: "Of a lookup" }),
  action: nullable(Text, { description: "Of an administrator" }),
  table: Type.Optional(Type.String({ description: "Of what was done to rows" })),
  counts: Type.Optional(
    Type.Record(Type.String(), Count, { description: "Rows of a file, by what became of them" }),
  ),
  decision: oneOf(["allowed", "denied"]),
  code: nullable(oneOf(PROBLEM_CODES), { description: "Null when allowed" }),
  request_id: Text,
});

/** The document of `repsync audit heads`. */
export const AuditHeadsSchema = model("AuditHeads", {
  format: Type.Literal("repsync.audit.heads.v1"),
  at: Time,
  heads: Type.Array(
    model("AuditHead", {
      chain_id: Text,
      seq: Count,
      hash: Text,
      chain_number: Count,
      at: Time,
      signature: Text,
    }),
    { description: "By the numbers of their chains" },
  ),
});

const Problem = only({
  kind: Text,
  chain_id: Text,
  seq: nullable(Count, { description: "Null when it is not one record's" }),
  message: Text,
});

export const AuditVerificationEventSchema = union("AuditVerificationEvent", [
  model("AuditProgressEvent", { type: Type.Literal("progress"), records: Count }),
  model("AuditDoneEvent", {
    type: Type.Literal("done"),
    problem: nullable(Problem, {
      description: "The first thing that is wrong; null when the log is whole",
    }),
    chains: Count,
    records: Count,
  }),
  model("AuditErrorEvent", { type: Type.Literal("error"), error: Text }),
  model("AuditFinishedEvent", { type: Type.Literal("finished") }),
]);
