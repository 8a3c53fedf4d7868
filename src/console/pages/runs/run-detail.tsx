import type { ComponentChildren } from "preact";
import type { CompareRun, Run, SyncRun } from "../../api/interface.ts";
import { RequestError } from "../../api/request-error.ts";
import { ErrorNote } from "../../components/buttons.tsx";
import { type Column, countColumn, DataTable } from "../../components/data-table.tsx";
import { Card, Facts, PageHead, StatusBadge } from "../../components/notes.tsx";
import {
  bytesText,
  counted,
  durationText,
  type Fields,
  FieldsText,
  isSame,
  keyText,
  shortened,
  TimeText,
  ValueText,
} from "../../components/text.tsx";
import { useReply } from "../../state/use-service.ts";
import {
  CancelRun,
  countsOf,
  LiveProgress,
  OfTable,
  RunFailure,
  TRIGGERS,
  toneOf,
  workText,
} from "./run-state.tsx";
import {
  type Difference,
  type Transfer,
  useWatchedRun,
  type WatchedRun,
} from "./use-watched-run.ts";

/** The page of a run or comparison. */
export function RunDetail({ runId }: { readonly runId: string }) {
  const path = { run_id: runId };
  const { data, error } = useReply("get /api/v1/sync/runs/{run_id}", { path });
  const { watched, error: streamError } = useWatchedRun(runId);
  // An ended dry run is in no list, but its events are kept. D-4.11.
  const isGone = error?.status === 404;
  const isDryRunGone = isGone && watched.lines.length > 0;
  return (
    <>
      <PageHead back={<a href="/console/runs">All runs</a>} shown={runId} />
      {!isDryRunGone && <ErrorNote error={error ?? streamError} />}
      {data !== null && !isGone && <ShownRun run={data} watched={watched} />}
      {isDryRunGone &&
        [...new Set(watched.failures)].map((detail) => (
          <ErrorNote key={detail} error={new RequestError(0, { detail })} />
        ))}
      {isDryRunGone && (
        <DataTable
          caption="Dry run: what would move"
          columns={DRY_RUN_COLUMNS}
          rows={watched.transfers}
          keyOf={({ table, direction }) => `${direction} ${table}`}
        />
      )}
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

/** A run or comparison, running or ended. */
export function ShownRun({ run, watched, children }: ShownRunProps) {
  const isRunning = run.status === "running";
  // A failed comparison has not seen all rows.
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
              // Screen readers announce the end.
              <span role="status">
                <StatusBadge tone={toneOf(run.status)} text={run.status} />
              </span>,
            ],
            ...(hasCounts ? countsOf(run) : []).map(([name, count]) =>
              count === undefined ? null : ([name, counted(count, "row")] as const),
            ),
            ["Started", <TimeText at={run.started_at} />],
            run.finished_at === null ? null : ["Finished", <TimeText at={run.finished_at} />],
            isRunning ? null : ["Took", durationText(run.duration_ms)],
            ["Started by", TRIGGERS[run.trigger]],
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

const DRY_RUN_COLUMNS: readonly Column<Transfer>[] = [
  { title: "Table", isHeader: true, cell: ({ table }) => <bdi>{table}</bdi> },
  { title: "Direction", cell: ({ direction }) => direction },
  countColumn("Rows", ({ total, moved }) => Math.max(total, moved)),
  { title: "Status", cell: ({ status }) => <StatusBadge tone={toneOf(status)} text={status} /> },
];

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

function TableResults({ tables }: { readonly tables: Readonly<Record<string, TableResult>> }) {
  const rows = Object.entries(tables).map(([table, result]) => ({ table, ...result }));
  const warnings = rows.flatMap(({ table, warnings: texts }) =>
    texts.map((text) => (
      <li key={`${table} ${text}`}>
        <bdi>{table}</bdi>: <bdi>{text}</bdi>
      </li>
    )),
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
          <ul>{warnings}</ul>
        </div>
      )}
    </>
  );
}

const COLUMNS: readonly Column<ResultRow>[] = [
  { title: "Table", isHeader: true, cell: ({ table }) => <bdi>{table}</bdi> },
  countColumn("Pushed", ({ pushed }) => pushed),
  countColumn("Pulled", ({ pulled }) => pulled),
  countColumn("Changed", ({ changed }) => changed),
  countColumn("Kept", ({ kept }) => kept),
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
  countColumn("Rows here", ({ count_here: count }) => count),
  countColumn("Rows there", ({ count_there: count }) => count),
  {
    title: "Sent, of",
    isNumber: true,
    cell: ({ bytes_compressed: sent, bytes_uncompressed: whole }) =>
      `${bytesText(sent)} of ${bytesText(whole)}`,
  },
  { title: "Took", isNumber: true, cell: ({ duration_ms: took }) => durationText(took) },
];

/** For runs with deletes. */
const DELETES: readonly Column<ResultRow>[] = [
  countColumn("Deleted here", ({ deleted_here: count }) => count),
  countColumn("Deleted there", ({ deleted_there: count }) => count),
];

interface CompareOutcomeProps extends ShownRunProps {
  readonly run: CompareRun;
}

/** The rows that differ, side by side with their differing cells marked, and the rows that one end lacks. */
function CompareOutcome({ run, watched, children }: CompareOutcomeProps) {
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
