import { ErrorNote } from "../../components/buttons.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Facts } from "../../components/notes.tsx";
import { counted, type Fields, ValueText } from "../../components/text.tsx";
import type { EndedImport, ImportResult } from "./use-import.ts";

/** Counts, refused records with reasons, and overwritten values of an import or a dry run. D-14.7. */
export function ImportOutcome({ ended }: { readonly ended: EndedImport }) {
  const { result, error, isDryRun } = ended;
  return (
    <>
      <ErrorNote error={error} />
      {result !== null && (
        <>
          <Facts facts={countsOf(result, isDryRun)} />
          {result.read === 0 && error === null && <p>The file has no records.</p>}
          {problemTable("Records that fail", result.failed, result.failures)}
          {result.failed > 0 && <p>{isDryRun ? LEFT_OUT : AGAIN}</p>}
          {problemTable("Warnings", result.warning_count, result.warnings)}
          <Changes result={result} />
        </>
      )}
    </>
  );
}

const LEFT_OUT = "Records that fail are left out; all others are written.";
const AGAIN = "Mend these records, and import the file again: what is there by now stays as it is.";

type Fact = readonly [name: string, count: string];

function countsOf(result: ImportResult, isDryRun: boolean): readonly (Fact | null)[] {
  const fact = (name: string, count: number): Fact => [name, count.toLocaleString()];
  const { deleted, removed } = result;
  return [
    fact("Read", result.read),
    fact("New", result.new),
    fact(isDryRun ? "To be overwritten" : "Overwritten", result.changed),
    fact("As they are", result.same),
    fact("Failed", result.failed),
    deleted === 0 ? null : fact("Deleted since", deleted),
    removed === undefined ? null : fact(isDryRun ? "To be removed" : "Removed", removed),
  ];
}

type Problem = ImportResult["warnings"][number] & { readonly key?: string | null };
type Place = Pick<Problem, "line" | "column" | "key">;

const SHOWN_PROBLEMS = 100;

function problemTable(name: string, total: number, list: readonly Problem[]) {
  if (list.length === 0) return null;
  const shown = list.slice(0, SHOWN_PROBLEMS);
  const part = list.length > shown.length ? `, the first ${SHOWN_PROBLEMS} are shown` : "";
  const hasKeys = list.some(({ key }) => key !== undefined && key !== null);
  return (
    <DataTable
      caption={`${name}: ${total.toLocaleString()}${part}`}
      isDense
      columns={[LINE, ...PROBLEM_COLUMNS, ...(hasKeys ? [KEY] : [])]}
      rows={shown}
      keyOf={(_, position) => position}
    />
  );
}

const LINE: Column<Place> = {
  ...{ title: "Line", isNumber: true, isHeader: true },
  // A remark about the whole file has no line.
  cell: ({ line, column, key }) =>
    column === null && key === undefined ? "file" : line.toLocaleString(),
};
const KEY: Column<Place> = {
  title: "Key",
  cell: ({ key }) => <ValueText value={key ?? undefined} />,
};
const COLUMN: Column<Place> = {
  title: "Column",
  cell: ({ column }) => <bdi class="unbroken">{column}</bdi>,
};
const PROBLEM_COLUMNS: readonly Column<Problem>[] = [
  { title: "Reason", cell: ({ message }) => <bdi>{message}</bdi> },
  COLUMN,
  { title: "Value", cell: ({ value }) => value !== null && <ValueText value={value} /> },
];

/** A value that would be overwritten. */
interface Change extends Place {
  readonly here: unknown;
  readonly record: unknown;
}

function Changes({ result: { changes = [], changed } }: { readonly result: ImportResult }) {
  if (changes.length === 0) return null;
  const rows = changes.flatMap(({ line, key, here, record }): Change[] => {
    const before: Fields = here ?? {};
    return Object.entries(record ?? {}).map(([column, value]) => {
      return { line, key, column, here: before[column], record: value };
    });
  });
  const part = changed > changes.length ? `, the first ${changes.length} of them` : "";
  return (
    <DataTable
      caption={`${counted(changed, "row")} to be overwritten${part}`}
      isDense
      columns={CHANGE_COLUMNS}
      rows={rows}
      keyOf={({ line, column }) => `${line} ${column}`}
    />
  );
}

const CHANGE_COLUMNS: readonly Column<Change>[] = [
  ...[LINE, KEY, COLUMN],
  { title: "As it is", cell: ({ here }) => <ValueText value={here} /> },
  {
    title: "As in the file",
    cell: ({ record }) => <ValueText value={record} />,
    isMarked: () => true,
  },
];
