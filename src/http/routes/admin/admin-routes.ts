// `/v1/admin`: accounts and the audit log. D-5.7, D-8.2, D-8.8, D-9.5.
import { keptHeads } from "../../../domain/reputation/audit/kept-heads.ts";
import { KEEP_ALIVE_MS, MAX_SEARCHED_ACCOUNTS } from "../../../domain/shared/limits.ts";
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
import { listAudit } from "../../../usecases/reputation/audit/list-audit.ts";
import type { AuditVerifications } from "../../../usecases/reputation/audit/verify-audit.ts";
import { administrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { data, events } from "../../replies.ts";
import {
  AccountItemSchema,
  AccountUsageSchema,
  doneSchema,
  PasswordResetSchema,
  PlanChangeSchema,
  PlanSchema,
} from "../../schemas/account.ts";
import { given, givenTime, LIST_QUERY, listOf, USERNAME } from "../../schemas/parts.ts";
import {
  AuditHeadsSchema,
  AuditItemSchema,
  AuditVerificationEventSchema,
} from "../../schemas/reputation.ts";

const UNKNOWN = { 404: "No such account" };
const OWN_OR_LAST = { 409: "Your own account, or the last administrator that is not suspended" };
const IN_THE_LOG = "The audit log keeps a record of it.";

export interface AdminRouteDeps {
  readonly accounts: SessionDeps;
  readonly verifications: AuditVerifications;
}

export function adminRoutes(deps: AdminRouteDeps): Operation[] {
  const { accounts } = deps;
  return [...reading(accounts), ...settings(accounts), ...standing(accounts), ...auditLog(deps)];
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

function auditLog({ accounts, verifications }: AdminRouteDeps): Operation[] {
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
        200: events("The events", AuditVerificationEventSchema),
        409: "This process is verifying the log already",
      },
      isSlow: true,
      run: () => verifications.start(),
    }),
  ];
}
