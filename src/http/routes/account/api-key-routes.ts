// `/v1/me/api-keys`. D-5.5, D-5.6.

import { MAX_ACTIVE_API_KEYS } from "../../../domain/shared/limits.ts";
import {
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../../usecases/reputation/accounts/api-keys.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import { user, writer } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { data } from "../../replies.ts";
import {
  ApiKeyRequestSchema,
  ApiKeySchema,
  IssuedApiKeySchema,
  RotationSchema,
} from "../../schemas/account.ts";
import { givenId, LIST_QUERY, listOf } from "../../schemas/parts.ts";

const ID = { id: givenId("As the list shows it") };
const UNKNOWN = { 404: "No such key of this account" };

export function apiKeyRoutes(deps: AccountDeps): Operation[] {
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
      params: ID,
      replies: { 200: data("The key, revoked", ApiKeySchema), ...UNKNOWN },
      run: ({ caller, params }) => revokeApiKey(deps, caller.account.username, params.id),
    }),
    operation({
      at: "POST /v1/me/api-keys/:id/rotate",
      id: "rotateApiKey",
      summary: "Put a new API key in place of another",
      guard: writer(deps),
      params: ID,
      body: RotationSchema,
      replies: {
        201: data("The new key, shown this once", IssuedApiKeySchema),
        ...UNKNOWN,
        409: "The key is not active",
      },
      run: ({ caller, params, body: { overlapSeconds = 0 } }) => {
        const { username } = caller.account;
        return rotateApiKey(deps, { username, id: params.id, overlapSeconds });
      },
    }),
  ];
}
