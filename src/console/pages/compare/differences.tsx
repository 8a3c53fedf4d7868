import type { CompareRun } from "../../api/interface.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import type { Difference } from "../runs/run-progress.ts";
import { type Fields, FieldsText, keyText, ValueText, valueText } from "../tables/value-text.tsx";

type Counts = Pick<CompareRun, "different" | "missing_here" | "missing_there">;

/** The rows that differ: side by side, with the cells that differ marked, and those that one end does not have. */
export function Differences({
  differences,
  run,
}: {
  readonly differences: readonly Difference[];
  readonly run: Counts;
}) {
  const of = (kind: Difference["kind"]) => differences.filter((found) => found.kind === kind);
  const different = of("different");
  return (
    <>
      {different.length > 0 && (
        <section aria-labelledby="different">
          <h2 id="different">Different: {shownOf(different.length, run.different)}</h2>
          {different.map((found) => (
            <SideBySide key={keyText(found.key)} found={found} />
          ))}
        </section>
      )}
      <Missing where="there" rows={of("missing_there")} count={run.missing_there} />
      <Missing where="here" rows={of("missing_here")} count={run.missing_here} />
    </>
  );
}

/** The whole key stands in the rows. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function shownOf(shown: number, all: number): string {
  return all > shown ? `the first ${shown} of ${all.toLocaleString()}` : shown.toLocaleString();
}

interface CellPair {
  readonly column: string;
  readonly here: unknown;
  readonly there: unknown;
  readonly isDifferent: boolean;
}

function SideBySide({ found }: { readonly found: Difference }) {
  const here: Fields = found.here ?? {};
  const there: Fields = found.there ?? {};
  const columns = [...new Set([...Object.keys(here), ...Object.keys(there)])];
  const pairs = columns.map((column): CellPair => {
    const [left, right] = [here[column], there[column]];
    // The columns of the key are in the caption.
    return { column, here: left, there: right, isDifferent: valueText(left) !== valueText(right) };
  });
  return (
    <DataTable
      caption={shortened(keyText(found.key))}
      isDense
      columns={PAIR_COLUMNS}
      rows={pairs}
      keyOf={({ column }) => column}
    />
  );
}

const PAIR_COLUMNS: readonly Column<CellPair>[] = [
  { title: "Column", isHeader: true, cell: ({ column }) => <bdi class="value">{column}</bdi> },
  {
    title: "Here",
    isMarked: (pair) => pair.isDifferent,
    cell: ({ here }) => <ValueText value={here} />,
  },
  {
    title: "There",
    isMarked: (pair) => pair.isDifferent,
    cell: ({ there }) => <ValueText value={there} />,
  },
];

interface MissingProps {
  readonly where: "here" | "there";
  readonly rows: readonly Difference[];
  readonly count: number;
}

function Missing({ where, rows, count }: MissingProps) {
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption={`Missing ${where}: ${shownOf(rows.length, count)}`}
      columns={[
        { title: "Key", isHeader: true, cell: ({ key }) => <FieldsText fields={key} /> },
        {
          title: where === "here" ? "Row there" : "Row here",
          cell: ({ here, there }) => (
            <FieldsText fields={(where === "here" ? there : here) ?? {}} />
          ),
        },
      ]}
      rows={rows}
      keyOf={({ key }) => keyText(key)}
    />
  );
}
