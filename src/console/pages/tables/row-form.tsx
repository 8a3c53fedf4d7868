import { useState } from "preact/hooks";
import { readTyped } from "../../../domain/sync/by-hand/typed-value.ts";
import type { Row, TableList } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { asRequestError, refusal } from "../../api/request-error.ts";
import {
  ActionForm,
  CheckField,
  Field,
  NAME_HINTS,
  SelectField,
  type Typed,
} from "../../components/form.tsx";
import { type Fields, ValueText, valueText } from "../../components/text.tsx";
import { RowConflict, type RowVersions, versionsOf } from "./row-conflict.tsx";

export type ListedTable = TableList["tables"][number];

interface RowFormProps {
  readonly listed: ListedTable;
  /** The row as it was read; null for a new one. */
  readonly row: Fields | null;
  /** Called with the row as it is then. */
  readonly onSaved: (row: Fields) => unknown;
  /** Called with the row as it is when nothing was changed; null for none. */
  readonly onLeft: (row: Fields | null) => unknown;
}

/** A column, and how a value of it is typed. */
interface TypedColumn {
  readonly name: string;
  readonly type: ListedTable["columns"][string]["type"];
  readonly nullable: boolean;
  readonly isKey: boolean;
  /** As the form has it at first. */
  readonly value: unknown;
}

/** Texts of more characters, or lines, get a field of several lines. */
const LONG_CHARS = 60;

/** Changes a row, or adds one. What somebody else has changed meanwhile is shown beside it. D-14.3. */
export function RowForm({ listed, row, onSaved, onLeft }: RowFormProps) {
  const [versions, setVersions] = useState<RowVersions | null>(null);
  const [force, setForce] = useState(false);
  const columns = columnsOf(listed, row);
  const path = { table_name: listed.table };

  async function put(mine: Fields, expected: Fields | null, isForced: boolean) {
    const row = mine as Row;
    const body = { row, expected: expected as Row | null, force: isForced };
    try {
      const saved = await request("put /api/v1/sync/rows/{table_name}", { path, body });
      await onSaved(saved.row);
    } catch (failure) {
      const error = asRequestError(failure);
      const found = versionsOf(error, { was: expected, mine });
      if (found === null) throw error;
      setVersions(found);
    }
  }

  async function submit(typed: Typed) {
    const isForced = typed("-force") === "on";
    setForce(isForced);
    await put(changesIn(listed, columns, { typed, isNew: row === null }), row, isForced);
  }

  if (versions !== null) {
    const { was, mine, now } = versions;
    return (
      <RowConflict
        versions={versions}
        insistName="Write mine"
        onInsist={() =>
          put(now === null ? anew(listed, { ...was, ...mine }) : (mine ?? {}), now, force)
        }
        onYield={() => onLeft(now)}
      />
    );
  }
  return (
    <ActionForm name="Save" isUnchecked onSubmit={submit} onBack={() => onLeft(row)}>
      {columns.map((column) => (
        <ColumnField key={column.name} column={column} listed={listed} isNew={row === null} />
      ))}
      {listed.direction === "pull" && (
        <CheckField label="Force" name="-force" hint="The rows are written at the remote" />
      )}
    </ActionForm>
  );
}

interface ColumnFieldProps {
  readonly column: TypedColumn;
  readonly listed: ListedTable;
  readonly isNew: boolean;
}

function ColumnField({ column, listed, isNew }: ColumnFieldProps) {
  const { name, type, nullable, isKey, value } = column;
  if (isKey && !isNew) {
    return (
      <p class="field">
        <bdi>{name}</bdi>: <ValueText value={value} />
      </p>
    );
  }
  const isTime = name === listed.timestamp_column;
  const kind = `${type}${nullable || isTime ? "" : ", never null"}`;
  const hint = isTime ? `${kind}; what stays as it is becomes now` : kind;
  const text = textOf(column);
  if (type === "boolean") {
    const offered = new Set([...(nullable ? [""] : []), "true", "false", ...(isNew ? [] : [text])]);
    const options = [...offered].map((option) => [option, option || "null"] as const);
    return <SelectField label={name} name={name} hint={hint} options={options} value={text} />;
  }
  return (
    <>
      <Field
        label={name}
        name={name}
        hint={hint}
        value={text}
        isLong={type === "json" || text.length > LONG_CHARS || text.includes("\n")}
        hints={NAME_HINTS}
        check={(typed) => problemOf(listed, column, typed)}
      />
      {type === "text" && nullable && (
        <CheckField
          label={`${name} is null where it is empty`}
          name={`${name}-null`}
          isChecked={value === null}
        />
      )}
    </>
  );
}

function columnsOf({ columns, upsert_key: key }: ListedTable, row: Fields | null): TypedColumn[] {
  return Object.entries(columns).map(([name, { type, nullable }]) => {
    return { name, type, nullable, isKey: key.includes(name), value: row?.[name] ?? null };
  });
}

/** What of the columns was typed anew. Throws what no column of its type takes. */
function changesIn(
  listed: ListedTable,
  columns: readonly TypedColumn[],
  { typed, isNew }: { readonly typed: Typed; readonly isNew: boolean },
): Fields {
  const changes: Record<string, unknown> = {};
  for (const column of columns) {
    const { name, isKey, value: before } = column;
    if (isKey && !isNew) continue;
    const text = typed(name);
    const isNull = text === "" && typed(`${name}-null`) === "on";
    const read = isNull ? { value: null } : readIn(listed, column, text);
    const isKept = "value" in read ? isNullAlike(read.value, before) : before !== null;
    const isSame = text === textOf(column) && isKept;
    if (isSame) continue;
    if ("message" in read) throw refusal(name, read.message);
    changes[name] = read.value;
  }
  return changes;
}

function isNullAlike(a: unknown, b: unknown): boolean {
  return (a === null) === (b === null);
}

function readIn({ timestamp_column: time }: ListedTable, column: TypedColumn, text: string) {
  return readTyped({ timestampColumn: time }, column, text);
}

/** What the column's type does not take; null for nothing. */
function problemOf(listed: ListedTable, column: TypedColumn, text: string): string | null {
  const read = readIn(listed, column, text);
  return "message" in read ? read.message : null;
}

/** The text of a value as fields have it, whose line breaks are LF; empty for null. */
function textOf({ type, value }: TypedColumn): string {
  if (value === null) return "";
  const text = type === "json" ? JSON.stringify(value, null, 2) : valueText(value);
  return text.replaceAll(/\r\n?/g, "\n");
}

/** A row that is gone, to be written once more: the store numbers it anew. */
function anew({ columns, upsert_key: key }: ListedTable, row: Fields): Fields {
  const isNumbered = columns["id"]?.type === "integer" && !key.includes("id");
  return isNumbered
    ? Object.fromEntries(Object.entries(row).filter(([name]) => name !== "id"))
    : row;
}
