// Requests of the console. The routes' own schemas type the bodies, so that tsc finds a changed one; tests/docs/openapi.test.ts compares
// paths and names of replies with docs/openapi.json. The browser gets none of the types.
import type { Static } from "@sinclair/typebox";
import type * as account from "../../http/schemas/account.ts";
import type * as reputation from "../../http/schemas/reputation.ts";
import type * as events from "../../http/schemas/run-events.ts";
import type * as runs from "../../http/schemas/runs.ts";
import type * as sync from "../../http/schemas/sync.ts";
import type * as tables from "../../http/schemas/tables.ts";

export type Access = Static<typeof account.AccessSchema>;
export type Account = Static<typeof account.AccountSchema>;
export type AccountItem = Static<typeof account.AccountItemSchema>;
export type AccountUsage = Static<typeof account.AccountUsageSchema>;
export type ApiKey = Static<typeof account.ApiKeySchema>;
export type AuditItem = Static<typeof reputation.AuditItemSchema>;
export type AuditVerificationEvent = Static<typeof reputation.AuditVerificationEventSchema>;
export type CompareEvent = Static<typeof events.CompareEventSchema>;
export type CompareRequest = Static<typeof runs.CompareRequestSchema>;
export type CompareRun = Extract<Run, { readonly kind: "compare" }>;
export type Consent = Static<typeof account.ConsentSchema>;
export type Explanation = Static<typeof reputation.ExplanationSchema>;
export type ImportEvent = Static<typeof events.ImportEventSchema>;
export type IssuedApiKey = Static<typeof account.IssuedApiKeySchema>;
export type OwnProfile = Static<typeof reputation.OwnProfileSchema>;
export type Overview = Static<typeof tables.OverviewSchema>;
type RejectedRecordDetail = Static<typeof runs.RejectedDetailSchema>;
export type RejectedRecord = Static<typeof runs.RetryResultSchema>["item"];
export type Row = Static<typeof tables.EditRowRequestSchema>["row"];
export type RowList = Static<typeof tables.RowListSchema>;
export type Run = Static<typeof runs.RunSchema>;
export type RunEvent = Static<typeof events.RunEventSchema>;
export type SignIn = Static<typeof account.SignInSchema>;
export type SyncRun = Static<typeof runs.SyncRunSchema>;
export type TableGuess = Static<typeof tables.GuessSchema>;
export type ListedTable = TableList["tables"][number];
type TableList = Static<typeof tables.TableListSchema>;
export type TriggerRequest = Static<typeof runs.TriggerRequestSchema>;
export type Usage = Static<typeof account.UsageSchema>;

/** A part of a list. D-5.5. */
export interface List<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

interface Part {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface SentFile {
  readonly content: Blob;
  /** Media type, which tells the service the format. */
  readonly type: string;
  /** Called with the bytes sent so far. */
  readonly onSent?: (bytes: number) => void;
}

/** How to read or write a file. */
export type FileForm = Partial<
  Record<"path" | "encoding" | "delimiter" | "decimal" | "date_format", string>
>;

export type ImportOptions = Partial<
  Record<"lax" | "force" | "append" | "whole" | "max_deletes", string>
>;

/** Operations by method and path. Queries are sent without empty fields. Under `/v1`, `reply` is the `data` of the reply. */
export interface Operations {
  "get /v1/signup": { reply: Static<typeof account.SignUpStateSchema> };
  "post /v1/signup": { body: Static<typeof account.SignUpSchema>; reply: Account };
  "post /v1/sessions": { body: SignIn; reply: Static<typeof account.SessionSchema> };
  "delete /v1/sessions": { reply: unknown };
  "delete /v1/sessions/current": { reply: unknown };
  "get /v1/me": { reply: Account };
  "delete /v1/me": { reply: unknown };
  "put /v1/me/password": { body: Static<typeof account.PasswordChangeSchema>; reply: unknown };
  "get /v1/me/profile": { reply: OwnProfile };
  "patch /v1/me/profile": { body: Static<typeof account.ProfileChangeSchema>; reply: OwnProfile };
  "get /v1/me/reputation": { reply: Explanation };
  "get /v1/me/usage": { reply: Usage };
  "get /v1/me/accesses": { query: Part; reply: List<Access> };
  "get /v1/me/api-keys": { query: Part; reply: List<ApiKey> };
  "post /v1/me/api-keys": { body: Static<typeof account.ApiKeyRequestSchema>; reply: IssuedApiKey };
  "delete /v1/me/api-keys/{id}": { reply: ApiKey };
  "post /v1/me/api-keys/{id}/rotate": {
    body: Static<typeof account.RotationSchema>;
    reply: IssuedApiKey;
  };
  "get /v1/me/consents": {
    query: Part & { status?: Consent["status"] | ""; purpose?: Consent["purpose"] | "" };
    reply: List<Consent>;
  };
  "post /v1/me/consents": { body: Static<typeof account.ConsentGrantSchema>; reply: Consent };
  "delete /v1/me/consents/{id}": { reply: Consent };
  "get /v1/admin/accounts": { query: Part & { query?: string }; reply: List<AccountItem> };
  "get /v1/admin/accounts/{username}": { reply: AccountUsage };
  "delete /v1/admin/accounts/{username}": { reply: unknown };
  "post /v1/admin/accounts/{username}/suspend": { reply: AccountItem };
  "post /v1/admin/accounts/{username}/restore": { reply: AccountItem };
  "post /v1/admin/accounts/{username}/release": { reply: unknown };
  "put /v1/admin/accounts/{username}/plan": {
    body: Static<typeof account.PlanChangeSchema>;
    reply: Static<typeof account.PlanSchema>;
  };
  "put /v1/admin/accounts/{username}/password": {
    body: Static<typeof account.PasswordResetSchema>;
    reply: unknown;
  };
  "get /v1/admin/audit": {
    query: Part & { account?: string; from?: string; until?: string };
    reply: List<AuditItem>;
  };
  "get /v1/admin/audit/heads": { reply: Static<typeof reputation.AuditHeadsSchema> };
  "post /v1/admin/audit/verify": { event: AuditVerificationEvent };
  "get /api/v1/sync/overview": { reply: Overview };
  "get /api/v1/sync/status": { reply: Static<typeof sync.SyncStatusSchema> };
  "get /api/v1/sync/tables": { reply: TableList };
  "put /api/v1/sync/tables/{name}": {
    body: Static<typeof tables.TableRequestSchema>;
    reply: Static<typeof tables.AddedTableSchema>;
  };
  "post /api/v1/sync/infer": {
    query: FileForm & {
      name: string;
      key?: string;
      timestamp?: string;
      type?: readonly string[];
      number_rows?: string;
    };
    file: SentFile;
    reply: TableGuess;
  };
  "post /api/v1/sync/import/{table_name}": {
    query: FileForm & ImportOptions & { dry_run?: string };
    file: SentFile;
    event: ImportEvent;
  };
  "get /api/v1/sync/rows/{table_name}": {
    query: Part & { since?: string; key?: string; where?: readonly string[]; order?: string };
    reply: RowList;
  };
  "put /api/v1/sync/rows/{table_name}": {
    body: Static<typeof tables.EditRowRequestSchema>;
    reply: Static<typeof tables.EditedRowSchema>;
  };
  "post /api/v1/sync/rows/{table_name}/delete": {
    body: Static<typeof tables.RemoveRowRequestSchema>;
    reply: Static<typeof tables.RemovedRowSchema>;
  };
  /** With `wait: false`. */
  "post /api/v1/sync/trigger": { body: TriggerRequest; reply: SyncRun };
  "get /api/v1/sync/runs": { query: Part; reply: List<Run> };
  "get /api/v1/sync/runs/{run_id}": { reply: Run };
  "post /api/v1/sync/runs/{run_id}/cancel": { reply: unknown };
  "get /api/v1/sync/runs/{run_id}/events": { event: RunEvent | CompareEvent };
  "post /api/v1/sync/compare-sse": { body: CompareRequest; event: CompareEvent };
  "get /api/v1/sync/rejected": { query: Part & { table?: string }; reply: List<RejectedRecord> };
  "get /api/v1/sync/rejected/{id}": { reply: RejectedRecordDetail };
  "delete /api/v1/sync/rejected/{id}": { reply: unknown };
  "post /api/v1/sync/rejected/{id}/retry": { reply: Static<typeof runs.RetryResultSchema> };
}

type Names<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

export type RequestOptions<O extends keyof Operations> = Omit<Operations[O], "reply" | "event"> &
  ([Names<O>] extends [never] ? unknown : { readonly path: Record<Names<O>, string | number> }) & {
    readonly signal?: AbortSignal;
  };

export type ReplyOperation = {
  [O in keyof Operations]: Operations[O] extends { reply: unknown } ? O : never;
}[keyof Operations];

export type StreamOperation = Exclude<keyof Operations, ReplyOperation>;

export type Reply<O extends ReplyOperation> = Operations[O]["reply"];

export type EventOf<O extends StreamOperation> = Operations[O]["event"];
