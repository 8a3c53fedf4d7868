// `/v1/me` without keys and consents. D-5.5, D-6.6.
import { accountBody } from "../../../domain/reputation/accounts/account.ts";
import { eraseOwnAccount } from "../../../usecases/reputation/accounts/administer.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import {
  changeProfile,
  explainScore,
  readProfile,
  readUsage,
} from "../../../usecases/reputation/accounts/me.ts";
import { listAccesses } from "../../../usecases/reputation/audit/list-audit.ts";
import { Answer } from "../../description.ts";
import { headerDoc } from "../../document-parts.ts";
import { user, writer } from "../../guards/bearer.ts";
import { cookieRemoval } from "../../guards/browser.ts";
import { type Operation, operation } from "../../operation.ts";
import { data } from "../../replies.ts";
import {
  AccessSchema,
  AccountSchema,
  ProfileChangeSchema,
  statusOf,
  UsageSchema,
} from "../../schemas/account.ts";
import { LIST_QUERY, listOf } from "../../schemas/parts.ts";
import { ExplanationSchema, OwnProfileSchema } from "../../schemas/reputation.ts";

const NO_PROFILE = { 404: "The account has no profile" };

export function meRoutes(deps: AccountDeps): Operation[] {
  return [...ownAccount(deps), ...ownProfile(deps)];
}

function ownAccount(deps: AccountDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me",
      id: "readAccount",
      summary: "The signed-in account",
      guard: user(deps),
      replies: { 200: data("The account", AccountSchema) },
      run: ({ caller }) => accountBody({ ...caller.account, role: caller.role }),
    }),
    operation({
      at: "DELETE /v1/me",
      id: "eraseAccount",
      summary: "Erase the account and everything about the person",
      description: "Audit records stay, nameless.",
      guard: writer(deps),
      replies: {
        200: data("Erased", statusOf("Erasure", "erased"), {
          "Set-Cookie": headerDoc("Takes the session cookie away"),
        }),
        409: "The last administrator that is not suspended",
      },
      run: async ({ caller, exchange }) => {
        const erased = await eraseOwnAccount(deps, caller.account.username);
        return new Answer(200, erased, cookieRemoval(exchange));
      },
    }),
    operation({
      at: "GET /v1/me/usage",
      id: "readUsage",
      summary: "Usage and limits",
      guard: user(deps),
      replies: { 200: data("Usage", UsageSchema) },
      run: ({ caller }) => readUsage(deps, caller.account),
    }),
    operation({
      at: "GET /v1/me/accesses",
      id: "listAccesses",
      summary: "Who looked the person up",
      guard: user(deps),
      query: LIST_QUERY,
      replies: { 200: data("Newest first", listOf(AccessSchema)), 400: "A bad limit or cursor" },
      run: ({ caller, query }) => listAccesses(deps, caller.account.username, query),
    }),
  ];
}

function ownProfile(deps: AccountDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/me/profile",
      id: "readProfile",
      summary: "Your profile",
      guard: user(deps),
      replies: { 200: data("The profile, hidden or not", OwnProfileSchema), ...NO_PROFILE },
      run: ({ caller }) => readProfile(deps, caller.account.username),
    }),
    operation({
      at: "PATCH /v1/me/profile",
      id: "changeProfile",
      summary: "Change your profile",
      guard: writer(deps),
      body: ProfileChangeSchema,
      replies: { 200: data("The profile", OwnProfileSchema), ...NO_PROFILE },
      run: ({ caller, body }) => changeProfile(deps, caller.account.username, body),
    }),
    operation({
      at: "GET /v1/me/reputation",
      id: "explainReputation",
      summary: "How your score comes about",
      guard: user(deps),
      replies: { 200: data("The score and its points", ExplanationSchema), ...NO_PROFILE },
      run: ({ caller }) => explainScore(deps, caller.account.username),
    }),
  ];
}
