// Tables, their rows and the state of synchronization, for administrators, with sync disabled too. D-9.5.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_EDIT_BODY_BYTES } from "../../../domain/shared/limits.ts";
import type { ColumnProblem } from "../../../domain/sync/by-hand/row-edit.ts";
import { ROW_ORDERS } from "../../../domain/sync/by-hand/shown-rows.ts";
import { NAME_PATTERN } from "../../../domain/sync/table/registry-schema.ts";
import { readOverview } from "../../../usecases/operations/read-overview.ts";
import { editRow, removeRow } from "../../../usecases/sync/pages/edit-row.ts";
import { listRows, listTables } from "../../../usecases/sync/pages/list-rows.ts";
import { readExactBody } from "../../bodies.ts";
import { Answer } from "../../description.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { given, givenAll, givenTime, LIST_QUERY, tableName } from "../../schemas/parts.ts";
import {
  AddedTableSchema,
  EditedRowSchema,
  EditRowRequestSchema,
  OverviewSchema,
  RemovedRowSchema,
  RemoveRowRequestSchema,
  RowConflictSchema,
  RowListSchema,
  RowRefusedSchema,
  TableListSchema,
  TableNotAddedSchema,
  TableRequestSchema,
} from "../../schemas/tables.ts";
import type { SyncAdministration } from "./run-replies.ts";

export function tableRoutes(deps: SyncAdministration): Operation[] {
  const { identity, sync, registryKeeper, overview } = deps;
  return [
    operation({
      at: "GET /api/v1/sync/tables",
      id: "listTables",
      summary: "List the tables with their columns",
      guard: syncAdministrator(identity),
      replies: { 200: json("In the order of the registry", TableListSchema) },
      run: () => listTables(sync),
    }),
    operation({
      at: "PUT /api/v1/sync/tables/:name",
      id: "addTable",
      summary: "Add a table to the registry file, and serve it",
      description: "Instances with the same file serve it within 5 seconds.",
      guard: syncAdministrator(identity),
      params: { name: given("Name of the new table", { pattern: NAME_PATTERN }) },
      body: TableRequestSchema,
      replies: {
        201: json("The table", AddedTableSchema),
        403: json("No administrator, or the file cannot be written", TableNotAddedSchema),
        409: "There is such a table, in the registry or in the store",
      },
      isSlow: true,
      async run({ caller, params, body }) {
        const added = await registryKeeper.add(params.name, body.entry);
        if (!added.isAdded) return new Answer(403, added);
        const act = { ...caller, action: "table.added" as const, table: added.table, counts: {} };
        await identity.administration
          .noteFileAct(act)
          .catch((error: unknown) => sync.logger.error("An added table was not noted", error));
        return added;
      },
    }),
    operation({
      at: "GET /api/v1/sync/rows/:table_name",
      id: "listRows",
      summary: "List the rows of a table",
      description:
        "Integers beyond 2^53 and decimals that are no doubles are strings; columns that are not serialized are left out. A list with `where` is looked for " +
        "through 300 milliseconds: a part may be short, even empty, with a `next_cursor`.",
      guard: syncAdministrator(identity),
      params: { table_name: tableName(sync) },
      query: {
        ...LIST_QUERY,
        since: givenTime("Only rows whose timestamp is at or after this time"),
        key: given(
          "Only the row with this key: the text of a key of one column, or a JSON object with every part",
        ),
        where: givenAll(
          "`column:text`, each: a column of texts contains the text, letter case aside, any other equals it as a value",
        ),
        order: given("By the key, or by the timestamp; `-`: from the end", {
          enum: ROW_ORDERS,
          default: "time",
        }),
      },
      replies: {
        200: json("A part of the rows", RowListSchema),
        400: "Unknown or unused table, or a bad limit, cursor, since, key, where or order",
      },
      run: ({ params, query }) => listRows(sync, params.tableName, query),
    }),
    operation({
      at: "GET /api/v1/sync/overview",
      id: "readOverview",
      summary: "Read how synchronization is doing",
      description:
        "The remote is asked for its status at most every 15 seconds; one that cannot be reached is told.",
      guard: syncAdministrator(identity),
      replies: { 200: json("The overview", OverviewSchema) },
      isSlow: true,
      run: () => readOverview(overview),
    }),
  ];
}

// Rows that administrators change by hand, with sync disabled too. D-14.3.

const BYTES = { maxBytes: MAX_EDIT_BODY_BYTES, hint: null };
const REPLIES = {
  400: json("The body or a column refuses what is given, or an unknown table", RowRefusedSchema),
  409: json(
    "The row is another one than expected; or it is not changed here: a column that pushes do not update, what is its owner's, a person who was erased, or a table that is written at the remote",
    RowConflictSchema,
  ),
  500: "The store could not commit",
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
        const { force: isForced = false, ...edit } = readExactBody(body, EditRowRequestSchema);
        const outcome = await editRow(deps, params.tableName, { ...edit, ...caller, isForced });
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
        const { force: isForced = false, ...removal } = readExactBody(body, RemoveRowRequestSchema);
        const outcome = await removeRow(deps, params.tableName, {
          ...removal,
          ...caller,
          isForced,
        });
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
