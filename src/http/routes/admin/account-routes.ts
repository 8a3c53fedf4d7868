import { Elysia } from "elysia";
import {
  eraseAccount,
  listAccounts,
  readAccount,
  releaseName,
  restoreAccount,
  setPassword,
  suspendAccount,
} from "../../../usecases/reputation/accounts/administer.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { callerGone, traced } from "../../exchange.ts";
import { adminRequestOf, readAdminRequest, requireAdministrator } from "../../guards/bearer.ts";
import { parameterDoc } from "../../openapi.ts";
import {
  BODY_PROBLEMS,
  bodyDoc,
  dataDoc,
  LIST_PARAMETERS,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  USERNAME,
} from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import {
  AccountItemSchema,
  AccountUsageSchema,
  doneSchema,
  PasswordResetSchema,
} from "../../schemas/account.ts";
import { listOf } from "../../schemas/parts.ts";

type AccountRouteDeps = IdentityDeps &
  Pick<
    AccountDeps,
    "accounts" | "administration" | "membership" | "passwords" | "passwordSemaphore" | "usage"
  >;

/** `/v1/admin/accounts` but the plan. D-8.2, D-8.8. */
export function accountRoutes(deps: AccountRouteDeps) {
  const { clock } = deps;
  return new Elysia({ prefix: "/v1/admin/accounts" })
    .get(
      "",
      async ({ request, query }) => {
        await requireAdministrator(deps, request);
        return dataReply(clock, await traced(request, listAccounts)(deps, query));
      },
      { detail: DETAILS.list },
    )
    .get(
      "/:username",
      async ({ request, params }) => {
        await requireAdministrator(deps, request);
        return dataReply(clock, await traced(request, readAccount)(deps, params.username));
      },
      { detail: DETAILS.read },
    )
    .delete(
      "/:username",
      async ({ request, params }) => {
        const asked = await adminRequestOf(deps, request);
        return dataReply(clock, await traced(request, eraseAccount)(deps, params.username, asked));
      },
      { parse: "none", detail: DETAILS.erase },
    )
    .post(
      "/:username/suspend",
      async ({ request, params }) => {
        const asked = await adminRequestOf(deps, request);
        return dataReply(
          clock,
          await traced(request, suspendAccount)(deps, params.username, asked),
        );
      },
      { parse: "none", detail: DETAILS.suspend },
    )
    .post(
      "/:username/restore",
      async ({ request, params }) => {
        const asked = await adminRequestOf(deps, request);
        return dataReply(
          clock,
          await traced(request, restoreAccount)(deps, params.username, asked),
        );
      },
      { parse: "none", detail: DETAILS.restore },
    )
    .post(
      "/:username/release",
      async ({ request, params }) => {
        const asked = await adminRequestOf(deps, request);
        return dataReply(clock, await traced(request, releaseName)(deps, params.username, asked));
      },
      { parse: "none", detail: DETAILS.release },
    )
    .put(
      "/:username/password",
      async ({ request, params }) => {
        const { body, asked } = await readAdminRequest(deps, request, PasswordResetSchema);
        const change = { username: params.username, ...body, gone: callerGone(request) };
        return dataReply(clock, await traced(request, setPassword)(deps, change, asked));
      },
      { parse: "none", detail: DETAILS.password },
    );
}

const shared = { tags: ["administration"], security: USER_SECURITY };
const ofAccount = { ...shared, parameters: [USERNAME] };
const PROBLEMS = {
  ...USER_PROBLEMS,
  403: "Not an administrator, or another issuer's account",
};
const ACCOUNT_PROBLEMS = { ...PROBLEMS, 404: "No such account" };
const IN_THE_LOG = "The audit log keeps a record of it.";

const DETAILS = {
  list: {
    ...shared,
    operationId: "listAccounts",
    summary: "List accounts by name",
    parameters: [
      parameterDoc("query", "query", {
        description:
          "Text that the name or the e-mail address contains, whatever the case of A to Z; never a pattern",
        schema: { type: "string", maxLength: 254 },
      }),
      ...LIST_PARAMETERS,
    ],
    responses: {
      200: dataDoc("Accounts in the order of their names", listOf(AccountItemSchema)),
      ...problemDocs({ ...PROBLEMS, 400: "A bad query, limit or cursor" }),
    },
  },
  read: {
    ...ofAccount,
    operationId: "readAccountUsage",
    summary: "One account with its usage",
    responses: {
      200: dataDoc("The account", AccountUsageSchema),
      ...problemDocs(ACCOUNT_PROBLEMS),
    },
  },
  erase: {
    ...ofAccount,
    operationId: "eraseSomebody",
    summary: "Erase an account and everything about the person",
    description: `The name stays taken until it is released. ${IN_THE_LOG}`,
    responses: {
      200: dataDoc("Erased", doneSchema("AccountErasure", "erased")),
      ...problemDocs({
        ...ACCOUNT_PROBLEMS,
        409: "Your own account, or the last administrator that is not suspended",
      }),
    },
  },
  suspend: {
    ...ofAccount,
    operationId: "suspendAccount",
    summary: "Suspend an account",
    description: `Its keys are refused from the next lookup on, on every instance, and its sessions end. Its profile is answered as before. ${IN_THE_LOG}`,
    responses: {
      200: dataDoc("The account", AccountItemSchema),
      ...problemDocs({
        ...ACCOUNT_PROBLEMS,
        409: "Your own account, or the last administrator that is not suspended",
      }),
    },
  },
  restore: {
    ...ofAccount,
    operationId: "restoreAccount",
    summary: "End a suspension",
    description: IN_THE_LOG,
    responses: {
      200: dataDoc("The account", AccountItemSchema),
      ...problemDocs(ACCOUNT_PROBLEMS),
    },
  },
  release: {
    ...ofAccount,
    operationId: "releaseName",
    summary: "Make the name of an erased account free",
    description: `A name stays taken after an erasure, because it decides whose accounts elsewhere count. Release it for a new person only. ${IN_THE_LOG}`,
    responses: {
      200: dataDoc("Released", doneSchema("Release", "released")),
      ...problemDocs({ ...PROBLEMS, 404: "The name is not held by an erased account" }),
    },
  },
  password: {
    ...ofAccount,
    operationId: "setPassword",
    summary: "Give an account another password",
    description: `All its sessions end. ${IN_THE_LOG}`,
    requestBody: bodyDoc(PasswordResetSchema),
    responses: {
      200: dataDoc("Changed", doneSchema("PasswordResetDone", "changed")),
      ...problemDocs({
        ...ACCOUNT_PROBLEMS,
        ...BODY_PROBLEMS,
        409: "The account has no password here",
      }),
    },
  },
};
