import { CONSENT_PURPOSES, CONSENT_STATUSES } from "../../../domain/reputation/accounts/consent.ts";
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
} from "../../reputation-docs.ts";
import { Consent, ConsentGrant } from "../../reputation-schemas.ts";
import { listOf } from "../../schema-parts.ts";

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

/** Documents of the routes of consents. */
export const CONSENT_DETAILS = {
  list: {
    ...shared,
    operationId: "listConsents",
    summary: "Your consents",
    parameters: [...FILTERS, ...LIST_PARAMETERS],
    responses: {
      200: dataDoc("Newest first", listOf(Consent)),
      ...problemDocs({ ...USER_PROBLEMS, 400: "An unknown filter value, a bad limit or cursor" }),
    },
  },
  grant: {
    ...shared,
    operationId: "grantConsent",
    summary: "Consent to a purpose",
    requestBody: bodyDoc(ConsentGrant),
    responses: {
      201: dataDoc("The consent", Consent),
      ...problemDocs({ ...USER_PROBLEMS, ...BODY_PROBLEMS }),
    },
  },
  revoke: {
    ...shared,
    operationId: "revokeConsent",
    summary: "Revoke a consent at once",
    parameters: [ID],
    responses: {
      200: dataDoc("The consent as it is now", Consent),
      ...problemDocs({ ...USER_PROBLEMS, 404: "No such consent of this person" }),
    },
  },
};
