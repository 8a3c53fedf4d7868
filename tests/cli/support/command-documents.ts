// What each command writes with `--json`: a schema of the interface where it is the same, or else a shape of its own. docs/cli.md
// shows them, and every document that a command of the tests writes is compared with them.
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import {
  AccountItemSchema,
  AccountUsageSchema,
  ApiKeySchema,
  IssuedApiKeySchema,
  PlanSchema,
} from "../../../src/http/schemas/account.ts";
import { listOf, nullable, oneOf, Text, Time } from "../../../src/http/schemas/parts.ts";
import {
  CompareResultSchema,
  KeyObject,
  RejectedListSchema,
  RetryResultSchema,
  RunListSchema,
  RunSchema,
  SyncRunSchema,
} from "../../../src/http/schemas/runs.ts";
import { SyncStatusSchema } from "../../../src/http/schemas/sync.ts";

const exact = { additionalProperties: false };
const object = (fields: TProperties) => Type.Object(fields, exact);
const Count = Type.Integer({ minimum: 0 });
const Texts = Type.Array(Text);
const Flag = Type.Boolean();
const DONE = object({ username: Text, status: oneOf(["erased", "released", "changed"]) });
const COPIED = { table_count: Count, rows: Count, accounts: Count };
const AuditProblem = nullable(
  object({ kind: Text, chain_id: Text, seq: nullable(Count), message: Text }),
);
const PROBLEM = { line: Count, column: nullable(Text), value: Type.Unknown(), message: Text };
const IMPORTED = {
  table: Text,
  dry_run: Flag,
  read: Count,
  deleted: Count,
  written: Count,
  new: Count,
  changed: Count,
  same: Count,
  failed: Count,
  last_line: Count,
  failures: Type.Array(object({ key: nullable(Text), ...PROBLEM })),
  warnings: Type.Array(object(PROBLEM)),
  warning_count: Count,
  removed: Type.Optional(Count),
  changes: Type.Optional(
    Type.Array(
      object({ line: Count, key: nullable(Text), here: Type.Unknown(), record: Type.Unknown() }),
    ),
  ),
};
const EXAMINED = {
  ok: Flag,
  findings: Type.Array(
    object({
      check: Text,
      status: oneOf(["ok", "warn", "fail"]),
      message: Text,
      hint: nullable(Text),
    }),
  ),
};
/** Says of every run whether it is a dry one. */
const Synced = Type.Object(
  { ...SyncRunSchema.properties, dry_run: Flag },
  { ...exact, $id: "{…SyncRun, dry_run}" },
);
const Compared = Type.Composite([object({ table: Text }), CompareResultSchema], {
  ...exact,
  $id: "{table, …CompareResult}",
});

/** A file, which has names of its own. */
const KeptHeads = object({
  format: Text,
  at: Time,
  heads: Type.Array(
    object({
      chainId: Text,
      seq: Count,
      hash: Text,
      chainNumber: Count,
      at: Time,
      signature: Text,
    }),
  ),
});
const RemoteStatus = Type.Composite(
  [
    SyncStatusSchema,
    object({ extensions: Type.Optional(Texts), deployment_id: Type.Optional(Text) }),
  ],
  { ...exact, $id: "{…SyncStatus, extensions?, deployment_id?}" },
);

/** By the path of the command; of several ones, each is written in a case of its own. */
export const COMMAND_DOCUMENTS: Readonly<Record<string, readonly TSchema[]>> = {
  init: [
    object({ folder: Text, written: Texts, left: Texts }),
    object({
      ...{ folder: Text, written: Texts, remote: Text, tables: Texts, unknown: Texts },
      ...EXAMINED,
    }),
  ],
  "tables infer": [
    object({ file: Text, tables: Texts }),
    object({ tables: Type.Record(Text, Type.Unknown()) }),
  ],
  "tables stamp": [
    object({ table: Text, file: Text, timestamp_column: Text, stamped: Flag, deletes: Flag }),
  ],
  "tables check": [object({ file: Text, tables: Texts, without_owner: Texts })],
  sync: [Synced],
  status: [
    object({
      local: SyncStatusSchema,
      remote: nullable(
        object({
          url: Text,
          status: nullable(RemoteStatus),
          clock_ahead_ms: nullable(Type.Number()),
          error: nullable(Text),
          hint: nullable(Text),
        }),
      ),
      tables: Type.Record(Text, object({ behind_seconds: nullable(Count) })),
    }),
  ],
  compare: [Compared, object({ tables: Type.Array(Compared) })],
  runs: [RunListSchema, RunSchema],
  "rejected list": [RejectedListSchema],
  "rejected retry": [RetryResultSchema],
  "rejected drop": [object({ id: Text, status: Type.Literal("dropped") })],
  delete: [object({ table: Text, key: KeyObject, status: Type.Literal("deleted") })],
  "deletes drop": [object({ table: Text, dropped: Count })],
  import: [object(IMPORTED), object({ tables: Type.Array(object(IMPORTED)) })],
  export: [object({ table: Text, rows: Count, format: Text })],
  "admin create": [object({ username: Text, role: Text })],
  "admin set-password": [DONE],
  "accounts list": [listOf(AccountItemSchema)],
  "accounts show": [AccountUsageSchema],
  "accounts suspend": [AccountItemSchema],
  "accounts restore": [AccountItemSchema],
  "accounts erase": [DONE],
  "accounts release": [DONE],
  "keys create": [IssuedApiKeySchema],
  "keys list": [object({ items: Type.Array(ApiKeySchema) })],
  "keys rotate": [IssuedApiKeySchema],
  "keys revoke": [ApiKeySchema],
  "plan set": [PlanSchema],
  "plan show": [PlanSchema],
  "audit verify": [
    object({
      status: oneOf(["whole", "broken"]),
      chains: Count,
      records: Count,
      problem: AuditProblem,
    }),
  ],
  "audit heads": [KeptHeads, object({ heads: Count })],
  "audit prune": [object({ removed: Count, keep_days: Count, problem: AuditProblem })],
  backup: [object({ path: Text, made_at: Time, bytes: Count, ...COPIED, outside_secrets: Texts })],
  restore: [
    object({
      path: Text,
      made_at: Time,
      age_seconds: Count,
      version: Text,
      ...COPIED,
      ended_sessions: Count,
      outside_secrets: Texts,
    }),
  ],
  move: [object(COPIED)],
  doctor: [object(EXAMINED)],
  demo: [
    object({
      sync: Type.Unknown(),
      reputation: Type.Unknown(),
      addresses: Type.Optional(Type.Record(Text, Text)),
    }),
  ],
};

const FAILURE = {
  error: Text,
  hint: Type.Optional(Text),
  problems: Type.Optional(Type.Array(Type.Unknown())),
};
/** Of an import it says also how far it came. */
const FAILURES = [object(FAILURE), object({ ...FAILURE, ...IMPORTED })];

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);

/** Throws when a command wrote another document than its schemas allow. `line` has no `repsync`. */
export function checkDocument(line: string, code: number, text: string): void {
  const path = Object.keys(COMMAND_DOCUMENTS)
    .filter((name) => `${line} `.replace(/^--env-file \S+ /, "").startsWith(`${name} `))
    .reduce((best, name) => (name.length > best.length ? name : best), "");
  const schema = Type.Union([...(COMMAND_DOCUMENTS[path] ?? []), ...(code === 0 ? [] : FAILURES)]);
  // Names of schemas that stand in it twice.
  const unnamed = JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "$id" ? undefined : value)),
  );
  if (ajv.validate(unnamed, JSON.parse(text))) return;
  throw new Error(`repsync ${line}: ${ajv.errorsText()}: ${text.slice(0, 2_000)}`);
}

/** The fields of a document, `?` where they may lack; a name with a capital is a schema of docs/openapi.json. */
export function shapeOf(schema: TSchema): string {
  if (schema.$id !== undefined && !schema.$id.endsWith("List")) return schema.$id;
  const union: readonly TSchema[] | undefined = schema.anyOf;
  const shown = union?.find(({ type }) => type !== "null");
  if (shown !== undefined) return shapeOf(shown);
  if (schema.type === "array") {
    const inside = shapeOf(schema.items);
    return `[${inside || "…"}]`;
  }
  const [perName] = Object.values<TSchema>(schema.patternProperties ?? {});
  if (perName !== undefined) return `{<name>: ${shapeOf(perName) || "…"}}`;
  const fields = Object.entries<TSchema>(schema.properties ?? {});
  if (fields.length === 0) return "";
  const required: readonly string[] = schema.required ?? [];
  const texts = fields.map(([name, field]) => {
    const inside = shapeOf(field);
    return `${name}${required.includes(name) ? "" : "?"}${inside === "" ? "" : `: ${inside}`}`;
  });
  return `{${texts.join(", ")}}`;
}
