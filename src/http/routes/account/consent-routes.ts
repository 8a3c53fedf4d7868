// `/v1/me/consents`. R-4, D-6.1.
import { CONSENT_PURPOSES, CONSENT_STATUSES } from "../../../domain/reputation/accounts/consent.ts";
import {
  endConsent,
  grantConsent,
  listConsents,
} from "../../../usecases/reputation/accounts/consents.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import { user, writer } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { data } from "../../replies.ts";
import { ConsentGrantSchema, ConsentSchema } from "../../schemas/account.ts";
import { given, givenId, LIST_QUERY, listOf } from "../../schemas/parts.ts";

export function consentRoutes(deps: AccountDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me/consents",
      id: "listConsents",
      summary: "Your consents",
      guard: user(deps),
      query: {
        status: given("Only consents of this status", {
          type: "string",
          enum: [...CONSENT_STATUSES],
        }),
        purpose: given("Only consents of this purpose", {
          type: "string",
          enum: [...CONSENT_PURPOSES],
        }),
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
