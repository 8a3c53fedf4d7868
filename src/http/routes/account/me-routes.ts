import { Elysia } from "elysia";
import { accountBody } from "../../../domain/reputation/accounts/account.ts";
import { eraseOwnAccount } from "../../../usecases/reputation/accounts/administer.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import {
  changeProfile,
  explainScore,
  listAccesses,
  readProfile,
  readUsage,
} from "../../../usecases/reputation/accounts/me.ts";
import { traced } from "../../exchange.ts";
import {
  readUserBody,
  requireUser,
  requireUsername,
  requireWriter,
  type WriterDeps,
} from "../../guards/bearer.ts";
import { jsonRequest } from "../../openapi.ts";
import {
  BODY_PROBLEMS,
  dataDoc,
  LIST_PARAMETERS,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  WRITER_PROBLEMS,
} from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import {
  AccessSchema,
  AccountSchema,
  ProfileChangeSchema,
  statusOf,
  UsageSchema,
} from "../../schemas/account.ts";
import { listOf } from "../../schemas/parts.ts";
import { ExplanationSchema, OwnProfileSchema } from "../../schemas/reputation.ts";

type MeRouteDeps = WriterDeps &
  Pick<AccountDeps, "usage" | "audit" | "profiles" | "membership" | "clock">;

/** `/v1/me` without keys and consents. D-5.5, D-6.6. */
export function meRoutes(deps: MeRouteDeps) {
  const nameOf = (request: Request) => requireUsername(deps, request);
  return new Elysia()
    .get(
      "/v1/me",
      async ({ request }) => {
        const { account, role } = await requireUser(deps, request);
        return dataReply(deps.clock, accountBody({ ...account, role }));
      },
      { detail: ME_DETAILS.account },
    )
    .delete(
      "/v1/me",
      async ({ request }) => {
        const username = await requireWriter(deps, request);
        return dataReply(deps.clock, await traced(request, eraseOwnAccount)(deps, username));
      },
      { parse: "none", detail: ME_DETAILS.erase },
    )
    .get(
      "/v1/me/profile",
      async ({ request }) =>
        dataReply(deps.clock, await traced(request, readProfile)(deps, await nameOf(request))),
      { detail: ME_DETAILS.profile },
    )
    .patch(
      "/v1/me/profile",
      async ({ request }) => {
        const { username, body } = await readUserBody(deps, request, ProfileChangeSchema);
        return dataReply(deps.clock, await traced(request, changeProfile)(deps, username, body));
      },
      { parse: "none", detail: ME_DETAILS.profileChange },
    )
    .get(
      "/v1/me/reputation",
      async ({ request }) =>
        dataReply(deps.clock, await traced(request, explainScore)(deps, await nameOf(request))),
      { detail: ME_DETAILS.reputation },
    )
    .get(
      "/v1/me/usage",
      async ({ request }) => {
        const { account } = await requireUser(deps, request);
        return dataReply(deps.clock, await traced(request, readUsage)(deps, account));
      },
      { detail: ME_DETAILS.usage },
    )
    .get(
      "/v1/me/accesses",
      async ({ request, query }) =>
        dataReply(
          deps.clock,
          await traced(request, listAccesses)(deps, await nameOf(request), query),
        ),
      { detail: ME_DETAILS.accesses },
    );
}

const shared = { tags: ["account"], security: USER_SECURITY };

const ME_DETAILS = {
  account: {
    ...shared,
    operationId: "readAccount",
    summary: "The signed-in account",
    responses: { 200: dataDoc("The account", AccountSchema), ...problemDocs(USER_PROBLEMS) },
  },
  erase: {
    ...shared,
    operationId: "eraseAccount",
    summary: "Erase the account and everything about the person",
    description: "Audit records stay, nameless.",
    responses: {
      200: dataDoc("Erased", statusOf("Erasure", "erased")),
      ...problemDocs({ ...WRITER_PROBLEMS, 409: "The last administrator that is not suspended" }),
    },
  },
  profile: {
    ...shared,
    operationId: "readProfile",
    summary: "Your profile",
    responses: {
      200: dataDoc("The profile, hidden or not", OwnProfileSchema),
      ...problemDocs({ ...USER_PROBLEMS, 404: "The account has no profile" }),
    },
  },
  profileChange: {
    ...shared,
    operationId: "changeProfile",
    summary: "Change your profile",
    requestBody: jsonRequest(ProfileChangeSchema),
    responses: {
      200: dataDoc("The profile", OwnProfileSchema),
      ...problemDocs({ ...WRITER_PROBLEMS, ...BODY_PROBLEMS, 404: "The account has no profile" }),
    },
  },
  reputation: {
    ...shared,
    operationId: "explainReputation",
    summary: "How your score comes about",
    responses: {
      200: dataDoc("The score and its points", ExplanationSchema),
      ...problemDocs({ ...USER_PROBLEMS, 404: "The account has no profile" }),
    },
  },
  usage: {
    ...shared,
    operationId: "readUsage",
    summary: "Usage and limits",
    responses: { 200: dataDoc("Usage", UsageSchema), ...problemDocs(USER_PROBLEMS) },
  },
  accesses: {
    ...shared,
    operationId: "listAccesses",
    summary: "Who looked the person up",
    parameters: LIST_PARAMETERS,
    responses: {
      200: dataDoc("Newest first", listOf(AccessSchema)),
      ...problemDocs({ ...USER_PROBLEMS, 400: "A bad limit or cursor" }),
    },
  },
};
