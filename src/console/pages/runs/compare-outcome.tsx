import type { ComponentChildren } from "preact";
import type { CompareRun } from "../../api/interface.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import {
  type Fields,
  FieldsText,
  isSame,
  keyText,
  shortened,
  ValueText,
} from "../../components/text.tsx";
import type { Difference, WatchedRun } from "./use-watched-run.ts";

interface CompareOutcomeProps {
  readonly run: CompareRun;
  readonly watched: WatchedRun;
  /** Advice before the rows. */
  readonly children?: ComponentChildren;
}

/** The rows that differ, side by side with their differing cells marked, and the rows that one end lacks. */
export function CompareOutcome({ run, watched, children }: CompareOutcomeProps) {
  const { different, missing_here: missingHere, missing_there: missingThere } = run;
  const hasEnded = run.status === "success" || run.status === "partial";
  const of = (kind: Difference["kind"]) =>
    watched.comparison?.differences.filter((found) => found.kind === kind) ?? [];
  const pairs = of("different");
  return (
    <>
      {hasEnded && different + missingHere + missingThere === 0 && (
        <p class="note good">Both ends have the same rows. There is nothing to repair.</p>
      )}
      {children}
      {pairs.length > 0 && (
        <section aria-labelledby="different">
          <h2 id="different">Different: {shownOf(pairs.length, different)}</h2>
          {pairs.map((found) => (
            <SideBySide key={keyText(found.key)} found={found} />
          ))}
        </section>
      )}
      {missingTable("there", of("missing_there"), missingThere)}
      {missingTable("here", of("missing_here"), missingHere)}
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
}

function SideBySide({ found }: { readonly found: Difference }) {
  const here: Fields = found.here ?? {};
  const there: Fields = found.there ?? {};
  // Columns of the key are in the caption.
  const columns = [...new Set([...Object.keys(here), ...Object.keys(there)])];
  return (
    <DataTable
      // The rows have the whole key.
      caption={shortened(keyText(found.key))}
      isDense
      columns={PAIR_COLUMNS}
      rows={columns.map((column) => ({ column, here: here[column], there: there[column] }))}
      keyOf={({ column }) => column}
    />
  );
}

const isDifferent = ({ here, there }: CellPair) => !isSame(here, there);

const PAIR_COLUMNS: readonly Column<CellPair>[] = [
  { title: "Column", isHeader: true, cell: ({ column }) => <bdi>{column}</bdi> },
  { title: "Here", isMarked: isDifferent, cell: ({ here }) => <ValueText value={here} /> },
  { title: "There", isMarked: isDifferent, cell: ({ there }) => <ValueText value={there} /> },
];

/** Rows that one end lacks, as the other has them. */
function missingTable(where: "here" | "there", rows: readonly Difference[], count: number) {
  if (rows.length === 0) return null;
  const other = where === "here" ? "there" : "here";
  return (
    <DataTable
      caption={`Missing ${where}: ${shownOf(rows.length, count)}`}
      columns={[
        { title: "Key", isHeader: true, cell: ({ key }) => <FieldsText fields={key} /> },
        { title: `Row ${other}`, cell: (found) => <FieldsText fields={found[other] ?? {}} /> },
      ]}
      rows={rows}
      keyOf={({ key }) => keyText(key)}
    />
  );
}
