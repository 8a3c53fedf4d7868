import { Elysia } from "elysia";
import { CONSENT_PURPOSES, CONSENT_STATUSES } from "../../../domain/reputation/accounts/consent.ts";
import {
  endConsent,
  grantConsent,
  listConsents,
} from "../../../usecases/reputation/accounts/consents.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import { traced } from "../../exchange.ts";
import {
  readUserBody,
  requireUsername,
  requireWriter,
  type WriterDeps,
} from "../../guards/bearer.ts";
import { parameterDoc } from "../../openapi.ts";
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
import { ConsentGrantSchema, ConsentSchema } from "../../schemas/account.ts";
import { listOf } from "../../schemas/parts.ts";

type ConsentRouteDeps = WriterDeps & Pick<AccountDeps, "consents" | "clock">;

/** `/v1/me/consents`. R-4, D-6.1. */
export function consentRoutes(deps: ConsentRouteDeps) {
  const nameOf = (request: Request) => requireUsername(deps, request);
  return new Elysia()
    .get(
      "/v1/me/consents",
      async ({ request, query }) =>
        dataReply(
          deps.clock,
          await traced(request, listConsents)(deps, await nameOf(request), query),
        ),
      { detail: CONSENT_DETAILS.list },
    )
    .post(
      "/v1/me/consents",
      async ({ request }) => {
        const { username, body } = await readUserBody(deps, request, ConsentGrantSchema);
        return dataReply(deps.clock, await traced(request, grantConsent)(deps, username, body), {
          status: 201,
        });
      },
      { parse: "none", detail: CONSENT_DETAILS.grant },
    )
    .delete(
      "/v1/me/consents/:id",
      async ({ request, params }) =>
        dataReply(
          deps.clock,
          await traced(request, endConsent)(deps, await requireWriter(deps, request), params.id),
        ),
      { parse: "none", detail: CONSENT_DETAILS.revoke },
    );
}

const shared = { tags: ["reputation"], security: USER_SECURITY };
const FILTERS = [
  parameterDoc("query", "status", {
    description: "Only consents of this status",
    schema: { type: "string", enum: [...CONSENT_STATUSES] },
  }),
  parameterDoc("query", "purpose", {
    description: "Only consents of this purpose",
    schema: { type: "string", enum: [...CONSENT_PURPOSES] },
  }),
];

const CONSENT_DETAILS = {
  list: {
    ...shared,
    operationId: "listConsents",
    summary: "Your consents",
    parameters: [...FILTERS, ...LIST_PARAMETERS],
    responses: {
      200: dataDoc("Newest first", listOf(ConsentSchema)),
      ...problemDocs({ ...USER_PROBLEMS, 400: "An unknown filter value, a bad limit or cursor" }),
    },
  },
  grant: {
    ...shared,
    operationId: "grantConsent",
    summary: "Consent to a purpose",
    requestBody: bodyDoc(ConsentGrantSchema),
    responses: {
      201: dataDoc("The consent", ConsentSchema),
      ...problemDocs({ ...WRITER_PROBLEMS, ...BODY_PROBLEMS }),
    },
  },
  revoke: {
    ...shared,
    operationId: "revokeConsent",
    summary: "Revoke a consent at once",
    parameters: [ID],
    responses: {
      200: dataDoc("The consent as it is now", ConsentSchema),
      ...problemDocs({ ...WRITER_PROBLEMS, 404: "No such consent of this person" }),
    },
  },
};
