// Rows that an administrator changes, adds and removes by hand. D-14.3.
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import type { RowAction } from "../../../domain/reputation/audit/audit-chain.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import {
  type ColumnProblem,
  type EditRequest,
  editRefusal,
  isExpected,
  type RowEdit,
  readEdit,
  readKeyByHand,
  stampedEdit,
  withNumbers,
} from "../../../domain/sync/by-hand/row-edit.ts";
import { shownRow } from "../../../domain/sync/by-hand/shown-rows.ts";
import {
  ERASED_MESSAGE,
  isOfPeople,
  type NameFacts,
  personOf,
  requireNoOwner,
} from "../../../domain/sync/people/name-facts.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { isTimeless, STAMP_NOW } from "../../../domain/sync/rows/row-time.ts";
import { requireOwned } from "../../../domain/sync/run/table-owner.ts";
import {
  findTable,
  type Registry,
  type Row,
  type Table,
} from "../../../domain/sync/table/table.ts";
import type { Transaction } from "../../../ports/documents.ts";
import type { Administration } from "../../../repositories/accounts/administration.ts";
import {
  removeWithin,
  transactRows,
  type WriteRowsDeps,
  writeWithin,
} from "../shared/write-rows.ts";

interface EditRowDeps extends WriteRowsDeps {
  readonly registry: Registry;
  readonly administration: Pick<Administration, "noteRowAct">;
}

interface Forcible extends AdminRequest {
  /** True: also in a table whose rows are written at the remote. D-11.9. */
  readonly isForced: boolean;
}

const EDIT = { name: "rows.edit", looksAtDeletes: true };
const FORCED = "Change them there, or here with force";

/** The row after an edit; the present row where it is not the expected one; or the problems of columns. */
type EditOutcome =
  | { readonly row: JsonObject }
  | { readonly differs: JsonObject | null }
  | { readonly problems: readonly ColumnProblem[] };

/** `warning` where the row comes back. */
type RemovalOutcome = { readonly warning: string | null } | { readonly differs: JsonObject | null };

/**
 * Changes or adds a row if it is still the expected one: comparison, write and audit record are one commit. Throws
 * `unknown_table`, `conflict` for a row that cannot be changed here, and what the store throws.
 */
export async function editRow(
  deps: EditRowDeps,
  tableName: string,
  { row, expected, ...asked }: EditRequest & Forcible,
): Promise<EditOutcome> {
  const table = findTable(deps.registry, tableName);
  if (!asked.isForced) requireOwned(table, "conflict", FORCED);
  const { edit: read, problems } = readEdit(table, { row, expected });
  if (read === null) return { problems };
  return await transactRows(deps, table, EDIT, async (tx) => {
    const { here, facts } = await find(deps, tx, table, read.key);
    const edit = withNumbers(table, read, here);
    if (here === null ? expected !== null : !(expected && isExpected(table, here, expected))) {
      return { differs: shownOf(table, here) };
    }
    const refusal = editRefusal(table, here, edit, facts);
    if (refusal !== null) throw new AppError("conflict", refusal);
    if (here !== null && Object.keys(edit.changes).length === 0) return { row: shown(table, here) };
    const problem = await write(deps, tx, table, { here, edit });
    if (problem !== null) return { problems: [problem] };
    await note(deps, tx, "row.changed", { ...asked, table, key: edit.key });
    const [written = null] = (await tx.read({ rowsOf: table, keys: [edit.key] }))[0];
    return { row: shown(table, written ?? {}) };
  });
}

/** Removes a row if it is still the expected one, with a tombstone where its table keeps them. Throws as `editRow`. */
export async function removeRow(
  deps: EditRowDeps,
  tableName: string,
  {
    key: named,
    expected,
    ...asked
  }: Forcible & { readonly key: JsonObject; readonly expected: JsonObject },
): Promise<RemovalOutcome> {
  const table = findTable(deps.registry, tableName);
  if (!asked.isForced) requireOwned(table, "conflict", FORCED);
  const key = readKeyByHand(table, named);
  const expectedKey = readKeyByHand(table, expected);
  if (key === null || expectedKey === null || keyText(table, key) !== keyText(table, expectedKey)) {
    throw new AppError("invalid_request", "key must be that of the expected row");
  }
  return await transactRows(deps, table, EDIT, async (tx) => {
    const { here, facts } = await find(deps, tx, table, key);
    if (here === null || !isExpected(table, here, expected)) {
      return { differs: shownOf(table, here) };
    }
    requireNoOwner(table, facts);
    await removeWithin(deps, tx, table, here);
    await note(deps, tx, "row.removed", { ...asked, table, key });
    return { warning: table.deletes ? null : comesBack(table) };
  });
}

function comesBack({ name }: Table): string {
  return `Deletes of "${name}" do not travel: a row that the other end has comes back with the next run; set "deletes": true for it in the registry, at both ends`;
}

/** The row, and the facts of the person whom it names. Throws `conflict` for an erased person. */
async function find(deps: EditRowDeps, tx: Transaction, table: Table, key: Row) {
  const [[here = null]] = await tx.read({ rowsOf: table, keys: [key] });
  const name = isOfPeople(table) ? personOf(key) : null;
  const known = name === null ? null : await deps.names.readFactsWithin(tx, [name]);
  const facts: NameFacts | null = known?.get(name ?? "") ?? null;
  if (facts?.erased?.isTaken) throw erased();
  return { here, facts };
}

/** Resolves to why the store refuses the row; null where it is written. */
async function write(
  deps: EditRowDeps,
  tx: Transaction,
  table: Table,
  { here, edit }: { readonly here: Row | null; readonly edit: RowEdit },
): Promise<ColumnProblem | null> {
  const row = stampedEdit(table, here, edit, tx.nowMs);
  const stamps = isTimeless(table, row) ? { stamps: STAMP_NOW } : {};
  const writes = [{ index: 0, row }];
  const rows = { table, writes, conflict: "overwrite", ...stamps } as const;
  const { failures, erased: leftOut } = await writeWithin(deps, tx, rows);
  if (leftOut.length > 0) throw erased();
  const [failure] = failures;
  if (failure === undefined) return null;
  const column = failure.column ?? table.keyColumns[0]?.name ?? "";
  return { column, message: failure.message };
}

function erased(): AppError {
  return new AppError("conflict", `The person whom this row names ${ERASED_MESSAGE}`);
}

async function note(
  { administration }: EditRowDeps,
  tx: Transaction,
  action: RowAction,
  { table, key, by, requestId }: AdminRequest & { readonly table: Table; readonly key: Row },
): Promise<void> {
  const act = { action, table: table.name, key: keyText(table, key), by, requestId };
  await administration.noteRowAct(tx, act);
}

function shownOf(table: Table, row: Row | null): JsonObject | null {
  return row === null ? null : shown(table, row);
}

function shown(table: Table, row: Row): JsonObject {
  const columns = table.pageColumns.map(({ name }) => [name, row[name] ?? null] as const);
  return shownRow(Object.fromEntries(columns));
}
