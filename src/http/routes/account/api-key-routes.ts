import { Elysia } from "elysia";
import {
  type ApiKeyDeps,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../../usecases/reputation/accounts/api-keys.ts";
import { traced } from "../../exchange.ts";
import {
  readUserBody,
  requireUsername,
  requireWriter,
  type WriterDeps,
} from "../../guards/bearer.ts";
import { jsonRequest } from "../../openapi.ts";
import {
  BODY_PROBLEMS,
  bodyDoc,
  dataDoc,
  ID,
  LIST_PARAMETERS,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  WRITER_PROBLEMS,
} from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import {
  ApiKeyRequestSchema,
  ApiKeySchema,
  IssuedApiKeySchema,
  RotationSchema,
} from "../../schemas/account.ts";
import { listOf } from "../../schemas/parts.ts";

type ApiKeyRouteDeps = WriterDeps & ApiKeyDeps;

/** `/v1/me/api-keys`. D-5.5, D-5.6. */
export function apiKeyRoutes(deps: ApiKeyRouteDeps) {
  const nameOf = (request: Request) => requireUsername(deps, request);
  return new Elysia()
    .get(
      "/v1/me/api-keys",
      async ({ request, query }) =>
        dataReply(
          deps.clock,
          await traced(request, listApiKeys)(deps, await nameOf(request), query),
        ),
      { detail: API_KEY_DETAILS.list },
    )
    .post(
      "/v1/me/api-keys",
      async ({ request }) => {
        const { username, body } = await readUserBody(deps, request, ApiKeyRequestSchema);
        return dataReply(deps.clock, await traced(request, issueApiKey)(deps, username, body), {
          status: 201,
        });
      },
      { parse: "none", detail: API_KEY_DETAILS.issue },
    )
    .delete(
      "/v1/me/api-keys/:id",
      async ({ request, params }) =>
        dataReply(
          deps.clock,
          await traced(request, revokeApiKey)(deps, await requireWriter(deps, request), params.id),
        ),
      { parse: "none", detail: API_KEY_DETAILS.revoke },
    )
    .post(
      "/v1/me/api-keys/:id/rotate",
      async ({ request, params: { id } }) => {
        const { username, body } = await readUserBody(deps, request, RotationSchema);
        const { overlapSeconds = 0 } = body;
        const issued = await traced(request, rotateApiKey)(deps, { username, id, overlapSeconds });
        return dataReply(deps.clock, issued, { status: 201 });
      },
      { parse: "none", detail: API_KEY_DETAILS.rotate },
    );
}

const shared = { tags: ["account"], security: USER_SECURITY };
const UNKNOWN = { 404: "No such key of this account" };

const API_KEY_DETAILS = {
  list: {
    ...shared,
    operationId: "listApiKeys",
    summary: "Your API keys",
    parameters: LIST_PARAMETERS,
    responses: {
      200: dataDoc("Newest first", listOf(ApiKeySchema)),
      ...problemDocs({ ...USER_PROBLEMS, 400: "A bad limit or cursor" }),
    },
  },
  issue: {
    ...shared,
    operationId: "issueApiKey",
    summary: "Make an API key",
    requestBody: bodyDoc(ApiKeyRequestSchema),
    responses: {
      201: dataDoc("The key, shown this once", IssuedApiKeySchema),
      ...problemDocs({ ...WRITER_PROBLEMS, ...BODY_PROBLEMS, 409: "100 keys are active" }),
    },
  },
  revoke: {
    ...shared,
    operationId: "revokeApiKey",
    summary: "Revoke an API key at once",
    parameters: [ID],
    responses: {
      200: dataDoc("The key, revoked", ApiKeySchema),
      ...problemDocs({ ...WRITER_PROBLEMS, ...UNKNOWN }),
    },
  },
  rotate: {
    ...shared,
    operationId: "rotateApiKey",
    summary: "Put a new API key in place of another",
    parameters: [ID],
    requestBody: jsonRequest(RotationSchema),
    responses: {
      201: dataDoc("The new key, shown this once", IssuedApiKeySchema),
      ...problemDocs({
        ...WRITER_PROBLEMS,
        ...BODY_PROBLEMS,
        ...UNKNOWN,
        409: "The key is not active",
      }),
    },
  },
};
