// Rows that administrators change by hand, with sync disabled too. D-14.3.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_EDIT_BODY_BYTES } from "../../../domain/shared/limits.ts";
import type { ColumnProblem } from "../../../domain/sync/by-hand/row-edit.ts";
import { editRow, removeRow } from "../../../usecases/sync/pages/edit-row.ts";
import { readExactBody } from "../../bodies.ts";
import { Answer } from "../../description.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { tableName } from "../../schemas/parts.ts";
import {
  EditedRowSchema,
  EditRowRequestSchema,
  RemovedRowSchema,
  RemoveRowRequestSchema,
  RowConflictSchema,
  RowRefusedSchema,
} from "../../schemas/rows.ts";
import type { SyncAdministration } from "./run-replies.ts";

const BYTES = { maxBytes: MAX_EDIT_BODY_BYTES, hint: null };
const REPLIES = {
  400: json("The body or a column refuses what is given, or an unknown table", RowRefusedSchema),
  409: json(
    "The row is another one than expected; or it is not changed here: a column that pushes do not update, what is its owner's, a person who was erased, or a table that is written at the remote",
    RowConflictSchema,
  ),
} as const;
const AS_NOW = "The row is another one now";

export function rowRoutes({ identity, sync }: SyncAdministration): Operation[] {
  const deps = { ...sync, administration: identity.administration };
  return [
    operation({
      at: "PUT /api/v1/sync/rows/:table_name",
      id: "editRow",
      summary: "Change or add a row",
      description:
        "Only while the row is the expected one. Where it brings no other time, the timestamp column becomes now.",
      guard: syncAdministrator(identity),
      params: { table_name: tableName(sync) },
      body: { shown: EditRowRequestSchema, ...BYTES },
      replies: { 200: json("The row as it is now", EditedRowSchema), ...REPLIES },
      run: async ({ caller, params, body }) => {
        const { force = false, ...edit } = readExactBody(body, EditRowRequestSchema);
        const outcome = await editRow(deps, params.tableName, { ...edit, ...caller, force });
        if ("problems" in outcome) return refused(outcome.problems);
        return "differs" in outcome ? conflict(outcome.differs) : outcome;
      },
    }),
    operation({
      at: "POST /api/v1/sync/rows/:table_name/delete",
      id: "removeRow",
      summary: "Delete a row",
      description:
        "Only while the row is the expected one. In a table without `deletes` it comes back with the next run where the other end has it.",
      guard: syncAdministrator(identity),
      params: { table_name: tableName(sync) },
      body: { shown: RemoveRowRequestSchema, ...BYTES },
      replies: { 200: json("It is gone", RemovedRowSchema), ...REPLIES },
      run: async ({ caller, params, body }) => {
        const { force = false, ...removal } = readExactBody(body, RemoveRowRequestSchema);
        const outcome = await removeRow(deps, params.tableName, { ...removal, ...caller, force });
        if ("differs" in outcome) return conflict(outcome.differs);
        return outcome.warning === null ? {} : { warning: outcome.warning };
      },
    }),
  ];
}

function refused(errors: readonly ColumnProblem[]) {
  return new Answer(400, { error: errors[0]?.message ?? "", errors: [...errors] });
}

function conflict(row: JsonObject | null) {
  return new Answer(409, { error: row === null ? "The row is gone" : AS_NOW, row });
}
