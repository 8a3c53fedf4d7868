import { useEffect, useState } from "preact/hooks";
import { spreadsheetField } from "../../../domain/shared/spreadsheet-field.ts";
import { CopyButton } from "../../components/buttons.tsx";
import { NAME_HINTS, SelectField } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { counted } from "../../components/numbers.ts";
import { type Fields, ValueText, valueText } from "../../components/text.tsx";
import { setTitle } from "../../state/use-page-visit.ts";

const FORMATS = [
  ["json", "JSON"],
  ["csv", "CSV"],
] as const;

const ROWS: Omit<ListDescription<"get /api/v1/sync/rows/{table_name}">, "caption" | "unmatched"> = {
  from: "get /api/v1/sync/rows/{table_name}",
  isCaptionHidden: true,
  isDense: true,
  limit: 50,
  filters: [
    {
      name: "key",
      label: "Key",
      hint: 'Exact; a key of several columns as {"shop": "a", "sku": "b"}',
      hints: NAME_HINTS,
    },
    {
      name: "since",
      label: "Since",
      hint: "Changed at or after, such as 2026-01-31T12:00:00Z",
      hints: { spellcheck: false },
      toAddress: (typed) => typed.trim(),
    },
  ],
  // What their key is only the registry knows.
  keyOf: (_, position) => position,
  columns: (rows) =>
    namesIn(rows).map((title) => ({
      title,
      cell: (row: Fields) => <ValueText value={row[title]} />,
    })),
  empty: [
    "This table has no rows",
    <>
      <a href="/console/runs">Start a pull</a>, or import a file with <code>repsync import</code>.
    </>,
  ],
};

/** The rows of a table in pages, with what the address says as filter. */
export function TableRows({ table }: { readonly table: string }) {
  useEffect(() => setTitle("Tables", table), [table]);
  const all = <a href={`/console/tables/${encodeURIComponent(table)}`}>Show all rows</a>;
  return (
    <>
      <p>
        <a href="/console/tables">All tables</a>
      </p>
      <h2>
        <bdi>{table}</bdi>
      </h2>
      <ListPage
        list={{ ...ROWS, caption: `Rows of ${table}`, unmatched: ["No row fits", all] }}
        path={{ table_name: table }}
        tools={({ data }) => (
          <div class="toolbar">
            <p class="quiet" role="status">
              {data !== null && data.total !== null && counted(data.total, "row")}
            </p>
            {data !== null && data.items.length > 0 && <CopyRows rows={data.items} />}
          </div>
        )}
      />
    </>
  );
}

/** Copies the rows that are shown. */
function CopyRows({ rows }: { readonly rows: readonly Fields[] }) {
  const [format, setFormat] = useState("json");
  const text = () => (format === "csv" ? csvOf(rows) : JSON.stringify(rows, null, 2));
  return (
    <div class="form-row copy-rows">
      <SelectField label="As" value={format} onValue={setFormat} options={FORMATS} />
      <CopyButton
        key={format}
        text={text}
        of={`the rows of this page as ${format.toUpperCase()}`}
      />
    </div>
  );
}

function namesIn(rows: readonly Fields[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** Rows as CSV (RFC 4180) for spreadsheets, with a line of names; null is an empty cell. */
function csvOf(rows: readonly Fields[]): string {
  const names = namesIn(rows);
  const lines = rows.map((row) => names.map((name) => cellOf(row[name])));
  return [names.map(quoted), ...lines].map((cells) => `${cells.join(",")}\r\n`).join("");
}

function cellOf(value: unknown): string {
  if (value === null) return "";
  // An empty text is quoted, so that it can be told from null.
  return value === "" ? '""' : quoted(spreadsheetField(valueText(value)));
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
