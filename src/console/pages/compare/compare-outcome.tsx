import type { ComponentChildren } from "preact";
import type { CompareRun } from "../../api/interface.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Facts } from "../../components/notes.tsx";
import {
  counted,
  type Fields,
  FieldsText,
  keyText,
  shortened,
  ValueText,
  valueText,
} from "../../components/text.tsx";
import type { Difference, WatchedRun } from "../runs/use-watched-run.ts";

/** What a comparison found: counts, and the rows that differ. */
export function CompareOutcome({
  run,
  watched,
  children,
}: {
  readonly run: CompareRun;
  readonly watched: WatchedRun;
  /** What to do about it, before the rows. */
  readonly children?: ComponentChildren;
}) {
  const differences = watched.comparison?.differences ?? [];
  const hasEnded = run.status === "success" || run.status === "partial";
  const isEqual = run.different + run.missing_here + run.missing_there === 0;
  return (
    <>
      {hasEnded && (
        <div class="card">
          <Facts
            facts={[
              ["Equal", counted(run.matched, "row")],
              ["Different", counted(run.different, "row")],
              ["Missing here", counted(run.missing_here, "row")],
              ["Missing there", counted(run.missing_there, "row")],
              run.repaired === undefined ? null : ["Repaired", counted(run.repaired, "row")],
              run.kept === undefined ? null : ["Kept as they are", counted(run.kept, "row")],
              run.erased === undefined ? null : ["Of erased people", counted(run.erased, "row")],
            ]}
          />
        </div>
      )}
      {hasEnded && isEqual && (
        <p class="note good">Both ends have the same rows. There is nothing to repair.</p>
      )}
      {children}
      <Differences differences={differences} run={run} />
    </>
  );
}

/** The rows that differ: side by side, with the cells that differ marked, and those that one end does not have. */
function Differences({
  differences,
  run,
}: {
  readonly differences: readonly Difference[];
  readonly run: CompareRun;
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
      // The whole key stands in the rows.
      caption={shortened(keyText(found.key))}
      isDense
      columns={PAIR_COLUMNS}
      rows={pairs}
      keyOf={({ column }) => column}
    />
  );
}

const PAIR_COLUMNS: readonly Column<CellPair>[] = [
  { title: "Column", isHeader: true, cell: ({ column }) => <bdi>{column}</bdi> },
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
