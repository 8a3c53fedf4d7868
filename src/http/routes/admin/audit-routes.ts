import { Elysia } from "elysia";
import { keepHeads } from "../../../domain/reputation/audit/kept-heads.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import type { AuditVerifications } from "../../../usecases/reputation/audit/audit-verifications.ts";
import { listAudit } from "../../../usecases/reputation/audit/list-audit.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { requireAdministrator } from "../../guards/bearer.ts";
import { eventsReply, headerDoc, parameterDoc } from "../../openapi.ts";
import {
  dataDoc,
  LIST_PARAMETERS,
  problemDocs,
  USER_PROBLEMS,
  USER_SECURITY,
} from "../../operation-docs.ts";
import { dataReply, eventStream } from "../../replies.ts";
import {
  AuditHeadsSchema,
  AuditItemSchema,
  AuditVerificationEventSchema,
} from "../../schemas/audit.ts";
import { listOf } from "../../schemas/parts.ts";

interface AuditRouteDeps {
  readonly accounts: IdentityDeps & Pick<AccountDeps, "audit" | "auditSearch">;
  readonly verifications: AuditVerifications;
  readonly timer: Timer;
}

/** `/v1/admin/audit`. D-9.5. */
export function auditRoutes({ accounts, verifications, timer }: AuditRouteDeps) {
  const { clock, auditSearch } = accounts;
  return new Elysia()
    .get(
      "/v1/admin/audit",
      async ({ request, query }) => {
        await requireAdministrator(accounts, request);
        return dataReply(
          clock,
          await traced(request, listAudit)({ auditSearch, clock, timer }, query),
        );
      },
      { detail: AUDIT_DETAILS.list },
    )
    .get(
      "/v1/admin/audit/heads",
      async ({ request }) => {
        await requireAdministrator(accounts, request);
        return dataReply(clock, keepHeads(await accounts.audit.heads(), clock.nowMs()));
      },
      { detail: AUDIT_DETAILS.heads },
    )
    .post(
      "/v1/admin/audit/verify",
      async ({ request }) => {
        await requireAdministrator(accounts, request);
        const events = verifications.start();
        exchangeOf(request).connection.keepOpen();
        return eventStream(events, timer);
      },
      { parse: "none", detail: AUDIT_DETAILS.verify },
    );
}

const shared = { tags: ["administration"], security: USER_SECURITY };
const PROBLEMS = {
  ...USER_PROBLEMS,
  403: "Not an administrator, or another issuer's account",
};

const FILTER_PARAMETERS = [
  parameterDoc("query", "account", {
    description: "Username: records where it called, was looked up, or was acted on",
    schema: { type: "string" },
  }),
  parameterDoc("query", "from", {
    description: "ISO 8601: records of this time or later",
    schema: { type: "string" },
  }),
  parameterDoc("query", "until", {
    description: "ISO 8601: records before this time",
    schema: { type: "string" },
  }),
];

const AUDIT_DETAILS = {
  list: {
    ...shared,
    operationId: "listAudit",
    summary: "The audit log: lookups, and what administrators did",
    description:
      "Newest first, by time and then by chain and place. A request looks through a bounded part of the log, so `items` may " +
      "be few, even none, where there is a `next_cursor`. What is written meanwhile neither moves nor repeats anything.",
    parameters: [...FILTER_PARAMETERS, ...LIST_PARAMETERS],
    responses: {
      200: dataDoc("A part of the log", listOf(AuditItemSchema)),
      ...problemDocs({ ...PROBLEMS, 400: "A bad limit, cursor or time" }),
    },
  },
  heads: {
    ...shared,
    operationId: "readAuditHeads",
    summary: "The ends that the chains of the audit log have reached",
    description:
      "As `repsync audit heads` writes them. Kept on another machine, they show later whether the log was cut or removed: " +
      "`repsync audit verify --heads FILE` takes this reply too. They name no person.",
    responses: { 200: dataDoc("The heads, signed", AuditHeadsSchema), ...problemDocs(PROBLEMS) },
  },
  verify: {
    ...shared,
    operationId: "verifyAuditLog",
    summary: "Verify every record of the audit log",
    description:
      "Server-sent events, each one `data:` line of JSON: `progress` as records are read, `done` with the first thing that " +
      "is wrong, or `error` when it could not be done to its end; `finished` is always the last. A comment comes when " +
      "nothing else was sent for 5 seconds. Closing the connection ends the work. A process verifies once at a time.",
    responses: {
      200: eventsReply("The events", AuditVerificationEventSchema, {
        "Cache-Control": headerDoc("Always private, no-store"),
      }),
      ...problemDocs({ ...PROBLEMS, 409: "This process is verifying the log already" }),
    },
  },
};
