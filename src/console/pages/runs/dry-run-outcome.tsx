import { type Column, DataTable } from "../../components/data-table.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import type { RunProgress, TransferProgress } from "./run-progress.ts";
import { toneOf } from "./run-text.ts";

/** What a dry run that has ended told: it is in no list. D-4.11. */
export function DryRunOutcome({ progress }: { readonly progress: RunProgress }) {
  return (
    <DataTable
      caption="Dry run: what would move"
      columns={COLUMNS}
      rows={progress.transfers}
      keyOf={({ table, direction }) => `${direction} ${table}`}
    />
  );
}

const COLUMNS: readonly Column<TransferProgress>[] = [
  { title: "Table", isHeader: true, cell: ({ table }) => <bdi class="value">{table}</bdi> },
  { title: "Direction", cell: ({ direction }) => direction },
  {
    title: "Rows",
    isNumber: true,
    cell: ({ total, moved }) => Math.max(total, moved).toLocaleString(),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge tone={toneOf(status)} text={status} /> },
];
