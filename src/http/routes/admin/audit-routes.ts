import { Elysia } from "elysia";
import { keepHeads } from "../../../domain/reputation/audit/kept-heads.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { dataDoc, problemDocs, USER_PROBLEMS, USER_SECURITY } from "../../operation-docs.ts";
import { dataReply } from "../../replies.ts";
import { AuditHeadsSchema } from "../../schemas/audit.ts";

type AuditRouteDeps = IdentityDeps & Pick<AccountDeps, "audit">;

/** `/v1/admin/audit`. D-9.5. */
export function auditRoutes(deps: AuditRouteDeps) {
  return new Elysia().get(
    "/v1/admin/audit/heads",
    async ({ request }) => {
      await requireAdministrator(deps, request);
      const heads = await deps.audit.heads();
      return dataReply(deps.clock, keepHeads(heads, deps.clock.nowMs()));
    },
    { detail: AUDIT_DETAILS.heads },
  );
}

const shared = { tags: ["administration"], security: USER_SECURITY };
const PROBLEMS = {
  ...USER_PROBLEMS,
  403: "Not an administrator, or another issuer's account",
};

const AUDIT_DETAILS = {
  heads: {
    ...shared,
    operationId: "readAuditHeads",
    summary: "The ends that the chains of the audit log have reached",
    description:
      "As `repsync audit heads` writes them. Kept on another machine, they show later whether the log was cut or removed: " +
      "`repsync audit verify --heads FILE` takes this reply too. They name no person.",
    responses: { 200: dataDoc("The heads, signed", AuditHeadsSchema), ...problemDocs(PROBLEMS) },
  },
};
