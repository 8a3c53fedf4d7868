import { useState } from "preact/hooks";
import { spreadsheetField } from "../../../domain/shared/text.ts";
import type { RowList } from "../../api/interface.ts";
import { ActionButton, CopyButton } from "../../components/buttons.tsx";
import { ActionForm, CheckField, Field, NAME_HINTS, SelectField } from "../../components/form.tsx";
import { counted, type Fields, valueText } from "../../components/text.tsx";
import { place, queryValue, queryValues, setQuery } from "../../state/router.ts";
import type { Resource } from "../../state/use-service.ts";
import { type FileFormat, FORMATS } from "./file-choice.tsx";
import { IMPORT, NEW_ROW, tableAddress } from "./row-page.tsx";

interface RowToolsProps {
  readonly table: string;
  /** None until the table is loaded. */
  readonly columns: readonly string[];
  readonly found: Resource<RowList>;
  readonly onStop: () => void;
}

/** What stands above the rows of a table: filters, the choice of columns, actions, and ways to take the rows along. */
export function RowTools({ table, columns, found: { data, isLoading }, onStop }: RowToolsProps) {
  const isLooking = isLoading && data !== null && data.total === null;
  const text = data === null ? "" : counted(data.total ?? data.items.length, "row");
  return (
    <>
      {columns.length > 0 && <ColumnFilters names={columns} />}
      {columns.length > 0 && <ColumnChoice names={columns} />}
      <div class="toolbar">
        <p class="quiet" role="status">
          {isLooking ? `${text} so far, looking on` : text}
          {!isLooking && data?.total === null && " on this page"}
        </p>
        {isLooking && <ActionButton onPress={onStop}>Stop</ActionButton>}
        <p class="fields">
          <a href={tableAddress(table, NEW_ROW)}>Add row</a>
          <a href={tableAddress(table, IMPORT)}>Import a file</a>
        </p>
        {data !== null && data.items.length > 0 && <TakeRows table={table} rows={data.items} />}
      </div>
    </>
  );
}

/** Filters by column, kept in the address as `where`. */
function ColumnFilters({ names }: { readonly names: readonly string[] }) {
  const filters = queryValues("where");
  const change = (where: readonly string[]) => setQuery({ where, cursor: "" });
  return (
    <>
      <search>
        <ActionForm
          name="Add filter"
          isRow
          isEmptied
          onSubmit={async (typed) => change([...filters, `${typed("column")}:${typed("text")}`])}
        >
          <SelectField label="Column" name="column" options={names} />
          <Field
            label="Holds"
            name="text"
            hint="Texts contain it, other values equal it"
            hints={NAME_HINTS}
          />
        </ActionForm>
      </search>
      {filters.length > 0 && (
        <ul class="picks" aria-label="Filters">
          {filters.map((filter) => (
            <li key={filter}>
              <bdi>{filter.replace(":", ": ")}</bdi>{" "}
              <ActionButton
                of={filter}
                onPress={() => change(filters.filter((other) => other !== filter))}
              >
                Remove
              </ActionButton>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The columns that the address chooses, or all. */
export function chosenColumns(names: readonly string[]): readonly string[] {
  const chosen = queryValue("columns").split(",");
  const shown = names.filter((name) => chosen.includes(name));
  return shown.length === 0 ? names : shown;
}

function ColumnChoice({ names }: { readonly names: readonly string[] }) {
  const chosen = chosenColumns(names);
  const show = (name: string, isShown: boolean) => {
    const columns = names.filter((one) => (one === name ? isShown : chosen.includes(one)));
    setQuery({ columns: columns.length === names.length ? "" : columns.join(",") });
  };
  return (
    <details>
      <summary>
        Columns ({chosen.length} of {names.length})
      </summary>
      <fieldset class="picks">
        <legend class="for-readers">Columns that are shown</legend>
        {names.map((name) => (
          <CheckField
            key={name}
            label={name}
            isChecked={chosen.includes(name)}
            onChecked={(isShown) => show(name, isShown)}
          />
        ))}
      </fieldset>
    </details>
  );
}

/** Copies the shown rows, or downloads the whole table. */
function TakeRows({ table, rows }: { readonly table: string; readonly rows: readonly Fields[] }) {
  const [format, setFormat] = useState<FileFormat>("json");
  const since = queryValue("since");
  const query = new URLSearchParams({ format, ...(since === "" ? {} : { since }) });
  return (
    <div class="form-row copy-rows">
      <SelectField
        label="As"
        value={format}
        onValue={(value) => setFormat(value as FileFormat)}
        options={FORMATS}
      />
      <CopyButton
        key={format + place.value.search}
        text={() => textOf(format, rows)}
        of={`the rows of this page as ${format.toUpperCase()}`}
      />
      <a
        href={`/api/v1/sync/export/${encodeURIComponent(table)}?${query}`}
        download
        aria-description={`all rows of ${table}${since === "" ? "" : ` since ${since}`}`}
      >
        Download
      </a>
    </div>
  );
}

function textOf(format: FileFormat, rows: readonly Fields[]): string {
  if (format === "csv") return csvOf(rows);
  if (format === "json") return JSON.stringify(rows, null, 2);
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

export function namesIn(rows: readonly Fields[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** RFC 4180 for spreadsheets, with a line of names; null is an empty cell. */
function csvOf(rows: readonly Fields[]): string {
  const names = namesIn(rows);
  const lines = rows.map((row) => names.map((name) => cellOf(row[name])));
  return [names.map(quoted), ...lines].map((cells) => `${cells.join(",")}\r\n`).join("");
}

function cellOf(value: unknown): string {
  if (value === null) return "";
  // Quotes tell an empty text from null.
  return value === "" ? '""' : quoted(spreadsheetField(valueText(value)));
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
