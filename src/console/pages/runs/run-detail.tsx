import type { ComponentChildren } from "preact";
import type { Run, SyncRun } from "../../api/interface.ts";
import { useReply } from "../../api/use-resource.ts";
import { ErrorNote } from "../../components/buttons.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Card, Facts, PageHead, StatusBadge } from "../../components/notes.tsx";
import { bytesText, counted, durationText, TimeText } from "../../components/text.tsx";
import { CompareOutcome } from "../compare/compare-outcome.tsx";
import {
  CancelRun,
  LiveProgress,
  OfTable,
  RunFailure,
  toneOf,
  triggerText,
  workText,
} from "./run-state.tsx";
import { type Transfer, useWatchedRun, type WatchedRun } from "./use-watched-run.ts";

/** A run or comparison at its own address, while it is under way and after. */
export function RunDetail({ runId }: { readonly runId: string }) {
  const path = { run_id: runId };
  const { data, error } = useReply("get /api/v1/sync/runs/{run_id}", { path });
  const { watched, error: streamError } = useWatchedRun(runId);
  // A dry run is in no list once it has ended; what it told is.
  const isGone = error?.status === 404;
  const isDryRunGone = isGone && watched.lines.length > 0;
  return (
    <>
      <PageHead back={<a href="/console/runs">All runs</a>} shown={runId} />
      {!isDryRunGone && <ErrorNote error={error ?? streamError} />}
      {data !== null && !isGone && <ShownRun run={data} watched={watched} />}
      {isDryRunGone && <DryRunOutcome watched={watched} />}
      <RunLines lines={watched.lines} />
    </>
  );
}

interface ShownRunProps {
  readonly run: Run;
  readonly watched: WatchedRun;
  /** Advice about the outcome of a comparison. */
  readonly children?: ComponentChildren;
}

/** A run or comparison while it is under way, and after. */
export function ShownRun({ run, watched, children }: ShownRunProps) {
  const isRunning = run.status === "running";
  // A comparison that failed has not seen all of the rows.
  const hasCounts = !isRunning && (run.kind === "sync" || run.status !== "failed");
  const title = (
    <>
      {workText(run)}
      <OfTable run={run} />
    </>
  );
  return (
    <>
      <Card title={title} beside={isRunning && <CancelRun runId={run.run_id} />}>
        {isRunning && <LiveProgress watched={watched} />}
        <Facts
          facts={[
            [
              "Status",
              // Screen readers say how it has ended.
              <span role="status">
                <StatusBadge tone={toneOf(run.status)} text={run.status} />
              </span>,
            ],
            ...(hasCounts ? countsOf(run) : []),
            ["Started", <TimeText at={run.started_at} />],
            run.finished_at === null ? null : ["Finished", <TimeText at={run.finished_at} />],
            isRunning ? null : ["Took", durationText(run.duration_ms)],
            ["Started by", triggerText(run)],
            ["Id", <code>{run.run_id}</code>],
          ]}
        />
      </Card>
      <RunFailure run={run} />
      {run.kind === "compare" ? (
        <CompareOutcome run={run} watched={watched}>
          {children}
        </CompareOutcome>
      ) : (
        <TableResults tables={run.tables} />
      )}
    </>
  );
}

/** The number of rows it moved, or found; null for those of which it tells nothing. */
function countsOf(run: Run): readonly ([string, string] | null)[] {
  const counts =
    run.kind === "compare"
      ? ([
          ["Equal", run.matched],
          ["Different", run.different],
          ["Missing here", run.missing_here],
          ["Missing there", run.missing_there],
          ["Repaired", run.repaired],
          ["Kept as they are", run.kept],
          ["Of erased people", run.erased],
        ] as const)
      : ([
          ["Pushed", run.total_pushed],
          ["Pulled", run.total_pulled],
          ["Changed", run.changed],
        ] as const);
  return counts.map(([name, count]) =>
    count === undefined ? null : [name, counted(count, "row")],
  );
}

/** The outcome of a dry run that has ended: it is in no list. D-4.11. */
function DryRunOutcome({ watched }: { readonly watched: WatchedRun }) {
  return (
    <DataTable
      caption="Dry run: what would move"
      columns={DRY_RUN_COLUMNS}
      rows={watched.transfers}
      keyOf={({ table, direction }) => `${direction} ${table}`}
    />
  );
}

const DRY_RUN_COLUMNS: readonly Column<Transfer>[] = [
  { title: "Table", isHeader: true, cell: ({ table }) => <bdi>{table}</bdi> },
  { title: "Direction", cell: ({ direction }) => direction },
  {
    title: "Rows",
    isNumber: true,
    cell: ({ total, moved }) => Math.max(total, moved).toLocaleString(),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge tone={toneOf(status)} text={status} /> },
];

/** The events of a run in words. */
function RunLines({ lines }: { readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <details class="lines">
      <summary>Events</summary>
      <ol class="small">
        {lines.map((line, i) => (
          <li key={i}>
            <bdi>{line}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
}

type TableResult = SyncRun["tables"][string];

interface ResultRow extends TableResult {
  readonly table: string;
}

/** Results of a run, table by table. */
function TableResults({ tables }: { readonly tables: Readonly<Record<string, TableResult>> }) {
  const rows = Object.entries(tables).map(([table, result]) => ({ table, ...result }));
  const warnings = rows.flatMap(({ table, warnings: texts }) =>
    texts.map((text) => ({ table, text })),
  );
  if (rows.length === 0) return null;
  const hasDeletes = rows.some((row) => row.deleted_here + row.deleted_there > 0);
  return (
    <>
      <DataTable
        caption="Results by table"
        columns={hasDeletes ? [...COLUMNS, ...DELETES] : COLUMNS}
        rows={rows}
        keyOf={({ table }) => table}
      />
      {warnings.length > 0 && (
        <div class="note warning">
          <ul>
            {warnings.map(({ table, text }) => (
              <li key={`${table} ${text}`}>
                <bdi>{table}</bdi>: <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

const COLUMNS: readonly Column<ResultRow>[] = [
  { title: "Table", isHeader: true, cell: ({ table }) => <bdi>{table}</bdi> },
  number("Pushed", ({ pushed }) => pushed),
  number("Pulled", ({ pulled }) => pulled),
  number("Changed", ({ changed }) => changed),
  number("Kept", ({ kept }) => kept),
  {
    title: "Rejected",
    isNumber: true,
    cell: ({ table, error_count: count }) =>
      count === 0 ? (
        "0"
      ) : (
        <a href={`/console/rejected?${new URLSearchParams({ table })}`}>{count.toLocaleString()}</a>
      ),
  },
  number("Rows here", ({ count_here: count }) => count),
  number("Rows there", ({ count_there: count }) => count),
  {
    title: "Sent, of",
    isNumber: true,
    cell: ({ bytes_compressed: sent, bytes_uncompressed: whole }) =>
      `${bytesText(sent)} of ${bytesText(whole)}`,
  },
  { title: "Took", isNumber: true, cell: ({ duration_ms: took }) => durationText(took) },
];

/** Shown where there are any. */
const DELETES: readonly Column<ResultRow>[] = [
  number("Deleted here", ({ deleted_here: count }) => count),
  number("Deleted there", ({ deleted_there: count }) => count),
];

function number(title: string, count: (row: ResultRow) => number | null): Column<ResultRow> {
  return { title, isNumber: true, cell: (row) => count(row)?.toLocaleString() ?? "–" };
}
