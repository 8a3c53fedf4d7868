// `/v1/me`. R-4, D-5.5, D-5.6, D-6.1, D-6.6.
import { accountBody } from "../../../domain/reputation/accounts/account.ts";
import { CONSENT_PURPOSES, CONSENT_STATUSES } from "../../../domain/reputation/accounts/consent.ts";
import { MAX_ACTIVE_API_KEYS } from "../../../domain/shared/limits.ts";
import { eraseOwnAccount } from "../../../usecases/reputation/accounts/administer.ts";
import {
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../../usecases/reputation/accounts/api-keys.ts";
import type { SessionDeps } from "../../../usecases/reputation/accounts/deps.ts";
import {
  changeProfile,
  endConsent,
  explainScore,
  grantConsent,
  listConsents,
  readProfile,
  readUsage,
} from "../../../usecases/reputation/accounts/me.ts";
import { listAccesses } from "../../../usecases/reputation/audit/list-audit.ts";
import { Answer, headerDoc } from "../../description.ts";
import { user, writer } from "../../guards/bearer.ts";
import { cookieRemoval } from "../../guards/browser.ts";
import { type Operation, operation } from "../../operation.ts";
import { data } from "../../replies.ts";
import {
  AccessSchema,
  AccountSchema,
  ApiKeyRequestSchema,
  ApiKeySchema,
  ConsentGrantSchema,
  ConsentSchema,
  IssuedApiKeySchema,
  ProfileChangeSchema,
  RotationSchema,
  statusOf,
  UsageSchema,
} from "../../schemas/account.ts";
import { given, givenId, LIST_QUERY, listOf } from "../../schemas/parts.ts";
import { ExplanationSchema, OwnProfileSchema } from "../../schemas/reputation.ts";

const KEY_ID = { id: givenId("As the list shows it") };
const UNKNOWN_KEY = { 404: "No such key of this account" };
const NO_PROFILE = { 404: "The account has no profile" };

export function meRoutes(deps: SessionDeps): Operation[] {
  return [...ownAccount(deps), ...ownProfile(deps), ...apiKeys(deps), ...consents(deps)];
}

function ownAccount(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me",
      id: "readAccount",
      summary: "The signed-in account",
      guard: user(deps),
      replies: { 200: data("The account", AccountSchema) },
      run: ({ caller }) => accountBody({ ...caller.account, role: caller.role }),
    }),
    operation({
      at: "DELETE /v1/me",
      id: "eraseAccount",
      summary: "Erase the account and everything about the person",
      description: "Audit records stay, nameless.",
      guard: writer(deps),
      replies: {
        200: data("Erased", statusOf("Erasure", "erased"), {
          "Set-Cookie": headerDoc("Takes the session cookie away"),
        }),
        409: "The last administrator that is not suspended",
      },
      run: async ({ caller, exchange }) => {
        const erased = await eraseOwnAccount(deps, caller.account.username);
        return new Answer(200, erased, cookieRemoval(exchange));
      },
    }),
    operation({
      at: "GET /v1/me/usage",
      id: "readUsage",
      summary: "Usage and limits",
      guard: user(deps),
      replies: { 200: data("Usage", UsageSchema) },
      run: ({ caller }) => readUsage(deps, caller.account),
    }),
    operation({
      at: "GET /v1/me/accesses",
      id: "listAccesses",
      summary: "Who looked the person up",
      guard: user(deps),
      query: LIST_QUERY,
      replies: { 200: data("Newest first", listOf(AccessSchema)), 400: "A bad limit or cursor" },
      run: ({ caller, query }) => listAccesses(deps, caller.account.username, query),
    }),
  ];
}

function ownProfile(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me/profile",
      id: "readProfile",
      summary: "Your profile",
      guard: user(deps),
      replies: { 200: data("The profile, hidden or not", OwnProfileSchema), ...NO_PROFILE },
      run: ({ caller }) => readProfile(deps, caller.account.username),
    }),
    operation({
      at: "PATCH /v1/me/profile",
      id: "changeProfile",
      summary: "Change your profile",
      guard: writer(deps),
      body: ProfileChangeSchema,
      replies: { 200: data("The profile", OwnProfileSchema), ...NO_PROFILE },
      run: ({ caller, body }) => changeProfile(deps, caller.account.username, body),
    }),
    operation({
      at: "GET /v1/me/reputation",
      id: "explainReputation",
      summary: "How your score comes about",
      guard: user(deps),
      replies: { 200: data("The score and its points", ExplanationSchema), ...NO_PROFILE },
      run: ({ caller }) => explainScore(deps, caller.account.username),
    }),
  ];
}

function apiKeys(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me/api-keys",
      id: "listApiKeys",
      summary: "Your API keys",
      guard: user(deps),
      query: LIST_QUERY,
      replies: { 200: data("Newest first", listOf(ApiKeySchema)), 400: "A bad limit or cursor" },
      run: ({ caller, query }) => listApiKeys(deps, caller.account.username, query),
    }),
    operation({
      at: "POST /v1/me/api-keys",
      id: "issueApiKey",
      summary: "Make an API key",
      guard: writer(deps),
      body: ApiKeyRequestSchema,
      replies: {
        201: data("The key, shown this once", IssuedApiKeySchema),
        409: `${MAX_ACTIVE_API_KEYS} keys are active`,
      },
      run: ({ caller, body }) => issueApiKey(deps, caller.account.username, body),
    }),
    operation({
      at: "DELETE /v1/me/api-keys/:id",
      id: "revokeApiKey",
      summary: "Revoke an API key at once",
      guard: writer(deps),
      params: KEY_ID,
      replies: { 200: data("The key, revoked", ApiKeySchema), ...UNKNOWN_KEY },
      run: ({ caller, params }) => revokeApiKey(deps, caller.account.username, params.id),
    }),
    operation({
      at: "POST /v1/me/api-keys/:id/rotate",
      id: "rotateApiKey",
      summary: "Put a new API key in place of another",
      guard: writer(deps),
      params: KEY_ID,
      body: RotationSchema,
      replies: {
        201: data("The new key, shown this once", IssuedApiKeySchema),
        ...UNKNOWN_KEY,
        409: "The key is not active",
      },
      run: ({ caller, params, body: { overlapSeconds = 0 } }) =>
        rotateApiKey(deps, caller.account.username, params.id, overlapSeconds),
    }),
  ];
}

function consents(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me/consents",
      id: "listConsents",
      summary: "Your consents",
      guard: user(deps),
      query: {
        status: given("Only consents of this status", { enum: [...CONSENT_STATUSES] }),
        purpose: given("Only consents of this purpose", { enum: [...CONSENT_PURPOSES] }),
        ...LIST_QUERY,
      },
      replies: {
        200: data("Newest first", listOf(ConsentSchema)),
        400: "An unknown filter value, a bad limit or cursor",
      },
      run: ({ caller, query }) => listConsents(deps, caller.account.username, query),
    }),
    operation({
      at: "POST /v1/me/consents",
      id: "grantConsent",
      summary: "Consent to a purpose",
      guard: writer(deps),
      body: ConsentGrantSchema,
      replies: { 201: data("The consent", ConsentSchema) },
      run: ({ caller, body }) => grantConsent(deps, caller.account.username, body),
    }),
    operation({
      at: "DELETE /v1/me/consents/:id",
      id: "revokeConsent",
      summary: "Revoke a consent at once",
      guard: writer(deps),
      params: { id: givenId("As the list shows it") },
      replies: {
        200: data("The consent as it is now", ConsentSchema),
        404: "No such consent of this person",
      },
      run: ({ caller, params }) => endConsent(deps, caller.account.username, params.id),
    }),
  ];
}
