import {
  type ConsentItem,
  checkConsentFilter,
  checkGrant,
  consentItem,
} from "../../../domain/reputation/accounts/consent.ts";
import {
  checkListQuery,
  type ListPart,
  type ListQuery,
  listPart,
} from "../../../domain/reputation/accounts/list-query.ts";
import {
  invalidFields,
  ReputationError,
  requireValid,
} from "../../../domain/reputation/accounts/reputation-error.ts";
import type { AccountDeps } from "./deps.ts";
import { erasedMeanwhile } from "./identity.ts";

type ConsentDeps = Pick<AccountDeps, "consents" | "clock">;

/** Query of the list of consents. */
export interface ConsentListInput {
  readonly status?: string | null;
  readonly purpose?: string | null;
  readonly limit?: string | null;
  readonly cursor?: string | null;
}

const CURSOR = /^[1-9]\d{0,14}$/;

/**
 * Grants a consent, superseding an active one of the same purpose. Throws `invalid_request`, and `token_invalid` when the
 * account was just erased. D-6.1.
 */
export async function grantConsent(
  deps: ConsentDeps,
  username: string,
  body: { readonly purpose?: unknown; readonly expires_at?: unknown },
): Promise<ConsentItem> {
  const nowMs = deps.clock.nowMs();
  const grant = requireValid(checkGrant(body, nowMs));
  const consent = await deps.consents.grant(username, { ...grant, nowMs });
  if (consent === null) throw erasedMeanwhile();
  return consentItem(consent, nowMs);
}

/**
 * Ends a consent; one that has ended stays as it is. Throws `not_found` for one that is not the owner's. D-6.1, D-6.3.
 */
export async function endConsent(
  deps: ConsentDeps,
  username: string,
  id: string,
): Promise<ConsentItem> {
  const nowMs = deps.clock.nowMs();
  const target = CURSOR.test(id) ? { id: Number(id), nowMs } : null;
  const consent = target === null ? null : await deps.consents.revoke(username, target);
  if (consent === null) throw new ReputationError("not_found", "There is no such consent");
  return consentItem(consent, nowMs);
}

/** Lists the owner's consents, newest first. Throws `invalid_request`., D-6.1. */
export async function listConsents(
  deps: ConsentDeps,
  username: string,
  input: ConsentListInput,
): Promise<ListPart<ConsentItem>> {
  const filter = checkConsentFilter(input);
  const query = checkListQuery(input, CURSOR);
  const problems = [...filter.problems, ...query.problems];
  if (problems.length > 0) throw invalidFields(problems);
  const { limit, cursor }: ListQuery = requireValid(query);
  const nowMs = deps.clock.nowMs();
  const beforeId = cursor === null ? null : Number(cursor);
  const found = await deps.consents.list(username, {
    filter: requireValid(filter),
    nowMs,
    limit: limit + 1,
    beforeId,
  });
  return listPart(found, limit, {
    toItem: (consent) => consentItem(consent, nowMs),
    cursorOf: ({ id }) => String(id),
  });
}
