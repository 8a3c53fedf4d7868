// `/v1/admin/accounts`. D-5.7, D-8.2, D-8.8.
import { MAX_SEARCHED_ACCOUNTS } from "../../../domain/shared/limits.ts";
import { formatCount } from "../../../domain/shared/text.ts";
import {
  changePlan,
  eraseAccount,
  listAccounts,
  readAccount,
  releaseName,
  restoreAccount,
  setPassword,
  suspendAccount,
} from "../../../usecases/reputation/accounts/administer.ts";
import type { SessionDeps } from "../../../usecases/reputation/accounts/deps.ts";
import { administrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { data } from "../../replies.ts";
import {
  AccountItemSchema,
  AccountUsageSchema,
  doneSchema,
  PasswordResetSchema,
  PlanChangeSchema,
  PlanSchema,
} from "../../schemas/account.ts";
import { given, LIST_QUERY, listOf, USERNAME } from "../../schemas/parts.ts";

const UNKNOWN = { 404: "No such account" };
const OWN_OR_LAST = { 409: "Your own account, or the last administrator that is not suspended" };
const IN_THE_LOG = "The audit log keeps a record of it.";

export function accountRoutes(deps: SessionDeps): Operation[] {
  return [...reading(deps), ...settings(deps), ...standing(deps)];
}

function reading(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/admin/accounts",
      id: "listAccounts",
      summary: "List accounts by name",
      description: `A search looks at ${formatCount(MAX_SEARCHED_ACCOUNTS)} accounts, so a part may be short, even empty, with a cursor.`,
      guard: administrator(deps),
      query: {
        query: given(
          "Text that the name or the e-mail address contains, whatever the case of A to Z; never a pattern",
          { maxLength: 254 },
        ),
        ...LIST_QUERY,
      },
      replies: {
        200: data("Accounts in the order of their names", listOf(AccountItemSchema)),
        400: "A bad query, limit or cursor",
      },
      run: ({ query }) => listAccounts(deps, query),
    }),
    operation({
      at: "GET /v1/admin/accounts/:username",
      id: "readAccountUsage",
      summary: "One account with its usage",
      guard: administrator(deps),
      params: USERNAME,
      replies: { 200: data("The account", AccountUsageSchema), ...UNKNOWN },
      run: ({ params }) => readAccount(deps, params.username),
    }),
  ];
}

function settings(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "PUT /v1/admin/accounts/:username/plan",
      id: "changePlan",
      summary: "Change an account's plan",
      guard: administrator(deps),
      params: USERNAME,
      body: PlanChangeSchema,
      replies: { 200: data("The plan", PlanSchema), ...UNKNOWN },
      run: ({ caller, params: { username }, body }) =>
        changePlan(deps, { username, ...body }, caller),
    }),
    operation({
      at: "PUT /v1/admin/accounts/:username/password",
      id: "setPassword",
      summary: "Give an account another password",
      description: `All its sessions end. ${IN_THE_LOG}`,
      guard: administrator(deps),
      params: USERNAME,
      body: PasswordResetSchema,
      replies: {
        200: data("Changed", doneSchema("PasswordResetDone", "changed")),
        ...UNKNOWN,
        409: "The account has no password here",
      },
      run: ({ caller, params: { username }, body, exchange }) =>
        setPassword(deps, { username, ...body, gone: exchange.gone() }, caller),
    }),
  ];
}

function standing(deps: SessionDeps): Operation[] {
  return [
    operation({
      at: "POST /v1/admin/accounts/:username/suspend",
      id: "suspendAccount",
      summary: "Suspend an account",
      description: `Its keys are refused from the next lookup on, on every instance, and its sessions end. Its profile is answered as before. ${IN_THE_LOG}`,
      guard: administrator(deps),
      params: USERNAME,
      replies: { 200: data("The account", AccountItemSchema), ...UNKNOWN, ...OWN_OR_LAST },
      run: ({ caller, params }) => suspendAccount(deps, params.username, caller),
    }),
    operation({
      at: "POST /v1/admin/accounts/:username/restore",
      id: "restoreAccount",
      summary: "End a suspension",
      description: IN_THE_LOG,
      guard: administrator(deps),
      params: USERNAME,
      replies: { 200: data("The account", AccountItemSchema), ...UNKNOWN },
      run: ({ caller, params }) => restoreAccount(deps, params.username, caller),
    }),
    operation({
      at: "DELETE /v1/admin/accounts/:username",
      id: "eraseSomebody",
      summary: "Erase an account and everything about the person",
      description: `The name stays taken until it is released. ${IN_THE_LOG}`,
      guard: administrator(deps),
      params: USERNAME,
      replies: {
        200: data("Erased", doneSchema("AccountErasure", "erased")),
        ...UNKNOWN,
        ...OWN_OR_LAST,
      },
      run: ({ caller, params }) => eraseAccount(deps, params.username, caller),
    }),
    operation({
      at: "POST /v1/admin/accounts/:username/release",
      id: "releaseName",
      summary: "Make the name of an erased account free",
      description: `A name stays taken after an erasure, because it decides whose accounts elsewhere count. Release it for a new person only. ${IN_THE_LOG}`,
      guard: administrator(deps),
      params: USERNAME,
      replies: {
        200: data("Released", doneSchema("Release", "released")),
        404: "The name is not held by an erased account",
      },
      run: ({ caller, params }) => releaseName(deps, params.username, caller),
    }),
  ];
}
