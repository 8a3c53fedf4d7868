import type { Overview } from "../../api/interface.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState, StatusBadge } from "../../components/notes.tsx";
import { durationText, TimeText } from "../../components/text.tsx";
import { runAddress, toneOf } from "../runs/run-text.ts";

type TableState = Overview["tables"][number];

/** Each table at both ends. */
export function TableStates({ overview }: { readonly overview: Overview }) {
  return (
    <DataTable
      caption="Tables"
      columns={COLUMNS}
      rows={overview.tables}
      keyOf={({ table }) => table}
      empty={
        <EmptyState title="There are no tables">
          <p>
            Name a registry file in <code>SYNC_TABLES</code>.
          </p>
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<TableState>[] = [
  {
    title: "Table",
    isHeader: true,
    cell: ({ table }) => (
      <a href={`/console/tables/${encodeURIComponent(table)}`}>
        <bdi>{table}</bdi>
      </a>
    ),
  },
  { title: "Rows here", isNumber: true, cell: ({ rows_here: rows }) => countText(rows) },
  { title: "Rows there", isNumber: true, cell: ({ rows_there: rows }) => countText(rows) },
  { title: "Drift", isNumber: true, cell: (state) => <Drift state={state} /> },
  { title: "Behind", isNumber: true, cell: ({ behind_seconds: seconds }) => behindText(seconds) },
  { title: "Last run", cell: ({ last_run: run }) => <LastRun run={run} /> },
];

function countText(count: number | null): string {
  return count === null || count < 0 ? "–" : count.toLocaleString();
}

function behindText(seconds: number | null): string {
  if (seconds === null) return "–";
  return seconds === 0 ? "up to date" : durationText(seconds * 1_000);
}

function Drift({ state: { table, drift } }: { readonly state: TableState }) {
  if (drift === null) return <>–</>;
  if (drift === 0) return <>0</>;
  const compare = `/console/compare?${new URLSearchParams({ table })}`;
  return (
    <a href={compare} aria-label={`${drift.toLocaleString()}, compare ${table}`}>
      {drift.toLocaleString()}
    </a>
  );
}

function LastRun({ run }: { readonly run: TableState["last_run"] }) {
  if (run === null) return <span class="quiet">none yet</span>;
  return (
    <span class="no-wrap">
      <StatusBadge tone={toneOf(run.status)} text={run.status} />{" "}
      <a href={runAddress(run.run_id)}>
        <TimeText at={run.started_at} />
      </a>
    </span>
  );
}
