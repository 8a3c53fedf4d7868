import {
  BODY_PROBLEMS,
  bodyDoc,
  dataDoc,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
  USERNAME,
} from "../../reputation-docs.ts";
import { Plan, PlanChange } from "../../reputation-schemas.ts";

/** Document of the administrator's change of a plan. */
export const PLAN_DETAIL = {
  operationId: "changePlan",
  tags: ["administration"],
  summary: "Change an account's plan",
  security: USER_SECURITY,
  parameters: [USERNAME],
  requestBody: bodyDoc(PlanChange),
  responses: {
    200: dataDoc("The plan", Plan),
    ...problemDocs({
      ...USER_PROBLEMS,
      ...BODY_PROBLEMS,
      403: "Not an administrator, or another issuer's account",
      404: "No such account",
    }),
  },
};
