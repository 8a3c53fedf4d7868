// `/v1/admin/audit`. D-9.5.
import { keptHeads } from "../../../domain/reputation/audit/kept-heads.ts";
import { KEEP_ALIVE_MS } from "../../../domain/shared/limits.ts";
import type { SessionDeps } from "../../../usecases/reputation/accounts/deps.ts";
import type { AuditVerifications } from "../../../usecases/reputation/audit/audit-verifications.ts";
import { listAudit } from "../../../usecases/reputation/audit/list-audit.ts";
import { PRIVATE } from "../../failures.ts";
import { administrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { data, events } from "../../replies.ts";
import {
  AuditHeadsSchema,
  AuditItemSchema,
  AuditVerificationEventSchema,
} from "../../schemas/audit.ts";
import { given, givenTime, LIST_QUERY, listOf } from "../../schemas/parts.ts";

export interface AuditRouteDeps {
  readonly accounts: SessionDeps;
  readonly verifications: AuditVerifications;
}

export function auditRoutes({ accounts, verifications }: AuditRouteDeps): Operation[] {
  const guard = administrator(accounts);
  const { audit, clock } = accounts;
  return [
    operation({
      at: "GET /v1/admin/audit",
      id: "listAudit",
      summary: "The audit log: lookups, and what administrators did",
      description:
        "Newest first, by time and then by chain and place. A request looks through a bounded part of the log, so `items` may " +
        "be few, even none, where there is a `next_cursor`. What is written meanwhile neither moves nor repeats anything.",
      guard,
      query: {
        account: given("Username: records where it called, was looked up, or was acted on"),
        from: givenTime("Records of this time or later"),
        until: givenTime("Records before this time"),
        ...LIST_QUERY,
      },
      replies: {
        200: data("A part of the log", listOf(AuditItemSchema)),
        400: "A bad limit, cursor or time",
      },
      run: ({ query }) => listAudit(accounts, query),
    }),
    operation({
      at: "GET /v1/admin/audit/heads",
      id: "readAuditHeads",
      summary: "The ends that the chains of the audit log have reached",
      description:
        "As `repsync audit heads` writes them. Kept on another machine, they show later whether the log was cut or removed: " +
        "`repsync audit verify --heads FILE` takes this reply too. They name no person.",
      guard,
      replies: { 200: data("The heads, signed", AuditHeadsSchema) },
      run: async () => keptHeads(await audit.heads(), clock.nowMs()),
    }),
    operation({
      at: "POST /v1/admin/audit/verify",
      id: "verifyAuditLog",
      summary: "Verify every record of the audit log",
      description:
        "Server-sent events, each one `data:` line of JSON: `progress` as records are read, `done` with the first thing that " +
        "is wrong, or `error` when it could not be done to its end; `finished` is always the last. A comment comes when " +
        `nothing else was sent for ${KEEP_ALIVE_MS / 1000} seconds. Closing the connection ends the work. A process verifies once at a time.`,
      guard,
      replies: {
        200: events("The events", AuditVerificationEventSchema, PRIVATE),
        409: "This process is verifying the log already",
      },
      isSlow: true,
      run: () => verifications.start(),
    }),
  ];
}
