import { jsonRequest } from "../../openapi.ts";
import {
  BODY_PROBLEMS,
  dataDoc,
  LIST_PARAMETERS,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
} from "../../reputation-docs.ts";
import {
  Access,
  Account,
  Explanation,
  OwnProfile,
  ProfileChange,
  statusOf,
  Usage,
} from "../../reputation-schemas.ts";
import { listOf } from "../../schema-parts.ts";

const shared = { tags: ["account"], security: USER_SECURITY };

/** Documents of `/v1/me` without keys and consents. */
export const ME_DETAILS = {
  account: {
    ...shared,
    operationId: "readAccount",
    summary: "The signed-in account",
    responses: { 200: dataDoc("The account", Account), ...problemDocs(USER_PROBLEMS) },
  },
  erase: {
    ...shared,
    operationId: "eraseAccount",
    summary: "Erase the account and everything about the person",
    description: "Audit records stay, nameless.",
    responses: {
      200: dataDoc("Erased", statusOf("Erasure", "erased")),
      ...problemDocs(USER_PROBLEMS),
    },
  },
  profile: {
    ...shared,
    operationId: "changeProfile",
    summary: "Change your profile",
    requestBody: jsonRequest(ProfileChange),
    responses: {
      200: dataDoc("The profile", OwnProfile),
      ...problemDocs({ ...USER_PROBLEMS, ...BODY_PROBLEMS, 404: "The account has no profile" }),
    },
  },
  reputation: {
    ...shared,
    operationId: "explainReputation",
    summary: "How your score comes about",
    responses: {
      200: dataDoc("The score and its points", Explanation),
      ...problemDocs({ ...USER_PROBLEMS, 404: "The account has no profile" }),
    },
  },
  usage: {
    ...shared,
    operationId: "readUsage",
    summary: "Where the account stands with its limits",
    responses: { 200: dataDoc("Usage", Usage), ...problemDocs(USER_PROBLEMS) },
  },
  accesses: {
    ...shared,
    operationId: "listAccesses",
    summary: "Who looked the person up",
    parameters: LIST_PARAMETERS,
    responses: {
      200: dataDoc("Newest first", listOf(Access)),
      ...problemDocs({ ...USER_PROBLEMS, 400: "A bad limit or cursor" }),
    },
  },
};
