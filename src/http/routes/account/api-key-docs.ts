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
} from "../../reputation-docs.ts";
import { ApiKey, ApiKeyRequest, IssuedApiKey, Rotation } from "../../reputation-schemas.ts";
import { listOf } from "../../schema-parts.ts";

const shared = { tags: ["account"], security: USER_SECURITY };
const UNKNOWN = { 404: "No such key of this account" };

/** Documents of the routes of API keys. */
export const API_KEY_DETAILS = {
  list: {
    ...shared,
    operationId: "listApiKeys",
    summary: "Your API keys",
    parameters: LIST_PARAMETERS,
    responses: {
      200: dataDoc("Newest first", listOf(ApiKey)),
      ...problemDocs({ ...USER_PROBLEMS, 400: "A bad limit or cursor" }),
    },
  },
  issue: {
    ...shared,
    operationId: "issueApiKey",
    summary: "Make an API key",
    requestBody: bodyDoc(ApiKeyRequest),
    responses: {
      201: dataDoc("The key, shown this once", IssuedApiKey),
      ...problemDocs({ ...USER_PROBLEMS, ...BODY_PROBLEMS }),
    },
  },
  revoke: {
    ...shared,
    operationId: "revokeApiKey",
    summary: "Revoke an API key at once",
    parameters: [ID],
    responses: {
      200: dataDoc("The key, revoked", ApiKey),
      ...problemDocs({ ...USER_PROBLEMS, ...UNKNOWN }),
    },
  },
  rotate: {
    ...shared,
    operationId: "rotateApiKey",
    summary: "Put a new API key in place of another",
    parameters: [ID],
    requestBody: jsonRequest(Rotation),
    responses: {
      201: dataDoc("The new key, shown this once", IssuedApiKey),
      ...problemDocs({
        ...USER_PROBLEMS,
        ...BODY_PROBLEMS,
        ...UNKNOWN,
        409: "The key is not active",
      }),
    },
  },
};
