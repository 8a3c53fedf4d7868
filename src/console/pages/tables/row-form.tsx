import { useState } from "preact/hooks";
import { readTyped } from "../../../domain/sync/rows/import-value.ts";
import type { ListedTable, Row } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { refusal } from "../../api/request-error.ts";
import {
  ActionForm,
  CheckField,
  Field,
  NAME_HINTS,
  type Options,
  SelectField,
  type Typed,
} from "../../components/form.tsx";
import { type Fields, ValueText, valueText } from "../../components/text.tsx";
import { useLeaveQuestion } from "../../state/router.ts";
import { ForceField, RowConflict, useRowWrite } from "./row-conflict.tsx";

interface RowFormProps {
  readonly listed: ListedTable;
  /** The row as it was read; null for a new one. */
  readonly row: Fields | null;
  /** Called with the saved row. */
  readonly onSaved: (row: Fields) => unknown;
  /** Called with the unchanged row; null for none. */
  readonly onLeft: (row: Fields | null) => unknown;
}

/** A column with its first value. */
interface TypedColumn {
  readonly name: string;
  readonly type: ListedTable["columns"][string]["type"];
  readonly nullable: boolean;
  readonly isKey: boolean;
  readonly value: unknown;
  readonly timestampColumn: string | null;
}

/** Longer texts get a field of several lines. */
const LONG_CHARS = 60;

/** Changes or adds a row. A row that was changed meanwhile is shown beside it. D-14.3. */
export function RowForm({ listed, row, onSaved, onLeft }: RowFormProps) {
  const columns = columnsOf(listed, row);
  const { versions, write } = useRowWrite(
    async ({ was, mine }, force) => {
      const path = { table_name: listed.table };
      const body = { row: mine as Row, expected: was as Row | null, force };
      const saved = await request("put /api/v1/sync/rows/{table_name}", { path, body });
      await onSaved(saved.row);
    },
    onSaved,
    [listed.timestamp_column, isNumbered(listed) ? "id" : null],
  );

  const [isTyped, setTyped] = useState(false);
  useLeaveQuestion(isTyped ? "Leave before the row is saved? What was typed is lost then" : "");

  if (versions !== null) {
    const { was, mine, now } = versions;
    return (
      <RowConflict
        versions={versions}
        insistName="Write mine"
        onInsist={() =>
          write({ was: now, mine: now === null ? anew(listed, { ...was, ...mine }) : mine })
        }
        onYield={() => onLeft(now)}
      />
    );
  }

  async function submit(typed: Typed) {
    await write({ was: row, mine: changesIn(columns, typed, row === null) }, typed);
  }

  return (
    <ActionForm
      name="Save"
      isUnchecked
      onTyped={() => setTyped(true)}
      onSubmit={submit}
      onBack={() => onLeft(row)}
    >
      {columns.map((column) => (
        <ColumnField key={column.name} column={column} isNew={row === null} />
      ))}
      <ForceField direction={listed.direction} />
    </ActionForm>
  );
}

function ColumnField({ column, isNew }: { readonly column: TypedColumn; readonly isNew: boolean }) {
  const { name, type, nullable, isKey, value } = column;
  if (isKey && !isNew) {
    return (
      <p class="field">
        <bdi>{name}</bdi>: <ValueText value={value} />
      </p>
    );
  }
  const isTime = name === column.timestampColumn;
  const kind = `${type}${nullable || isTime ? "" : ", never null"}`;
  const hint = isTime ? `${kind}; what stays as it is becomes now` : kind;
  const text = textOf(column);
  if (type === "boolean") {
    const offered = new Set([...(nullable ? [""] : []), "true", "false", ...(isNew ? [] : [text])]);
    const options: Options = [...offered].map((option) => option || ["", "null"]);
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
        check={(typed) => {
          const read = readTyped(column, column, typed);
          return "message" in read ? read.message : null;
        }}
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

function columnsOf(listed: ListedTable, row: Fields | null): readonly TypedColumn[] {
  const { columns, upsert_key: key, timestamp_column: timestampColumn } = listed;
  return Object.entries(columns).map(([name, { type, nullable }]) => {
    const [isKey, value] = [key.includes(name), row?.[name] ?? null];
    return { name, type, nullable, isKey, value, timestampColumn };
  });
}

/** The changed values. Throws for a text that the column's type does not take. */
function changesIn(columns: readonly TypedColumn[], typed: Typed, isNew: boolean): Fields {
  const changes: Record<string, unknown> = {};
  for (const column of columns) {
    const { name, isKey, value: before } = column;
    if (isKey && !isNew) continue;
    const text = typed(name);
    const isNull = text === "" && typed(`${name}-null`) === "on";
    const read = isNull ? { value: null } : readTyped(column, column, text);
    const isKept = "value" in read ? (read.value === null) === (before === null) : before !== null;
    if (isKept && text === textOf(column)) continue;
    if ("message" in read) throw refusal(name, read.message);
    changes[name] = read.value;
  }
  return changes;
}

/** As fields hold it, with LF; empty for null. */
function textOf({ type, value }: TypedColumn): string {
  if (value === null) return "";
  const text = type === "json" ? JSON.stringify(value, null, 2) : valueText(value);
  return text.replaceAll(/\r\n?/g, "\n");
}

function isNumbered({ columns, upsert_key: key }: ListedTable): boolean {
  return columns["id"]?.type === "integer" && !key.includes("id");
}

/** A removed row to be written again: the store numbers it anew. */
function anew(listed: ListedTable, row: Fields): Fields {
  const { id: _, ...others } = row;
  return isNumbered(listed) ? others : row;
}
