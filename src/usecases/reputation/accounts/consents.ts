import {
  type ConsentFilterQuery,
  type ConsentPurpose,
  consentItem,
  readConsentFilter,
} from "../../../domain/reputation/accounts/consent.ts";
import { readExpiry } from "../../../domain/reputation/accounts/expiry.ts";
import { AppError, type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import { type ListParameters, listPart, readListQuery } from "../../../domain/shared/list-query.ts";
import type { AccountDeps } from "./deps.ts";
import { erasedMeanwhile } from "./identity.ts";

interface ConsentRequest {
  readonly purpose: ConsentPurpose;
  /** ISO 8601; null or absent: it does not end. */
  readonly expiresAt?: string | null;
}

const CURSOR = /^[1-9]\d{0,14}$/;

/** Ends an active consent of the same purpose. Throws `invalid_request`, and `token_invalid` after an erasure. D-6.1. */
export async function grantConsent(deps: AccountDeps, username: string, request: ConsentRequest) {
  const nowMs = deps.clock.nowMs();
  const { purpose } = request;
  const expiresAt = readExpiry(request.expiresAt, nowMs);
  const consent = await deps.consents.grant(username, { purpose, expiresAt, nowMs });
  if (consent === null) throw erasedMeanwhile();
  return consentItem(consent, nowMs);
}

/** Ends a consent; an ended one stays as it is. Throws `not_found` for one that is not the owner's. D-6.1, D-6.3. */
export async function endConsent(deps: AccountDeps, username: string, id: string) {
  const nowMs = deps.clock.nowMs();
  const target = CURSOR.test(id) ? { id: Number(id), nowMs } : null;
  const consent = target === null ? null : await deps.consents.revoke(username, target);
  if (consent === null) throw new AppError("not_found", "There is no such consent");
  return consentItem(consent, nowMs);
}

/** Lists the owner's consents, newest first. Throws `invalid_request`., D-6.1. */
export async function listConsents(
  deps: AccountDeps,
  username: string,
  input: ListParameters & ConsentFilterQuery,
) {
  const problems: InputProblem[] = [];
  const filter = readConsentFilter(input, problems);
  const { limit, cursor } = readListQuery(input, CURSOR, problems);
  refuse(problems);
  const nowMs = deps.clock.nowMs();
  const beforeId = cursor === null ? null : Number(cursor);
  const query = { filter, nowMs, limit: limit + 1, beforeId };
  const found = await deps.consents.list(username, query);
  return listPart(found, limit, {
    toItem: (consent) => consentItem(consent, nowMs),
    cursorOf: ({ id }) => String(id),
  });
}
