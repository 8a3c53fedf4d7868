import { useState } from "preact/hooks";
import type { Run, TriggerRequest } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ErrorNote } from "../../components/buttons.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { ActionForm, CheckField, SelectField, type Typed } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { Card, StatusBadge } from "../../components/notes.tsx";
import { durationText, LongText, TimeText } from "../../components/text.tsx";
import { navigate, whileHere } from "../../state/router.ts";
import { RunDetail } from "./run-detail.tsx";
import {
  CancelRun,
  LiveProgress,
  OfTable,
  outcomeText,
  runAddress,
  TRIGGERS,
  tablesOf,
  toneOf,
  useTableNames,
  workText,
} from "./run-state.tsx";
import { useWatchedRun } from "./use-watched-run.ts";

/** A watched run takes one of the few connections that a browser opens to a service. */
const MAX_WATCHED = 2;

const RUNS: ListDescription<"get /api/v1/sync/runs"> = {
  from: "get /api/v1/sync/runs",
  caption: "Runs and comparisons",
  limit: 20,
  pollMs: 3_000,
  keyOf: ({ run_id: id }) => id,
  columns: [
    {
      title: "Started",
      isHeader: true,
      cell: (run) => (
        <a class="no-wrap" href={runAddress(run.run_id)}>
          <TimeText at={run.started_at} />
        </a>
      ),
    },
    { title: "Status", cell: ({ status }) => <StatusBadge tone={toneOf(status)} text={status} /> },
    { title: "What", cell: workText },
    { title: "Tables", cell: (run) => <TableNames names={tablesOf(run)} /> },
    { title: "Outcome", cell: (run) => <Outcome run={run} /> },
    { title: "Took", isNumber: true, cell: ({ duration_ms }) => durationText(duration_ms) },
    { title: "Started by", cell: ({ trigger }) => TRIGGERS[trigger] },
  ],
  empty: [
    "Nothing has run yet",
    <>
      Start a run above, or set <code>SYNC_SCHEDULE</code> for runs by the clock.
    </>,
  ],
};

/** All runs, or the one of the id `run`. D-9.4. */
export function RunsPage({ run: runId }: Readonly<Record<string, string>>) {
  if (runId !== undefined) return <RunDetail runId={runId} />;
  return (
    <>
      <StartRun />
      <ListPage
        list={RUNS}
        tools={({ data }) =>
          data?.items
            .filter(({ status }) => status === "running")
            .slice(0, MAX_WATCHED)
            .map((run) => <RunningRun key={run.run_id} run={run} />)
        }
      />
    </>
  );
}

/** A running run, wherever it was started. */
function RunningRun({ run }: { readonly run: Run }) {
  const { watched, error } = useWatchedRun(run.run_id);
  const title = (
    <>
      <a href={runAddress(run.run_id)}>{workText(run)}</a>
      <OfTable run={run} />
    </>
  );
  return (
    <Card title={title} beside={<CancelRun runId={run.run_id} />}>
      <ErrorNote error={error} />
      <LiveProgress watched={watched} />
    </Card>
  );
}

function TableNames({ names }: { readonly names: readonly string[] }) {
  return names.length > 3 ? <>{names.length} tables</> : <bdi>{names.join(", ")}</bdi>;
}

function Outcome({ run }: { readonly run: Run }) {
  if (run.error !== undefined) return <LongText text={run.error} maxChars={120} />;
  return <>{run.status === "running" ? "–" : outcomeText(run)}</>;
}

type Direction = NonNullable<TriggerRequest["direction"]>;

const DIRECTIONS = [
  ["both", "Push, then pull"],
  ["push", "Push: from here to there"],
  ["pull", "Pull: from there to here"],
] as const satisfies readonly (readonly [Direction, string])[];

/** Starts a run, and opens its page. D-9.4. */
function StartRun() {
  const tables = useTableNames();
  /** The request that waits for a confirmation. */
  const [forced, setForced] = useState<TriggerRequest | null>(null);
  return (
    <Card title="Start a run">
      <ActionForm
        name="Start"
        isRow
        onSubmit={async (typed) => {
          const wanted = wantedBy(typed);
          const isAsked = wanted.force && !wanted.dry_run && wanted.direction !== "both";
          if (isAsked) setForced(wanted);
          else await start(wanted);
        }}
      >
        <SelectField label="Table" name="table" options={[["", "All tables"], ...tables]} />
        <SelectField label="Direction" name="direction" options={DIRECTIONS} />
        <div class="checks">
          <CheckField
            label="Full"
            name="full"
            hint="Every row, not only what changed since the last run"
          />
          <CheckField label="Dry run" name="dry_run" hint="Only counts what would move" />
          <CheckField
            label="Force"
            name="force"
            hint="Overwrites newer rows too; in one direction only"
          />
        </div>
      </ActionForm>
      {forced !== null && (
        <ConfirmDialog
          name="Start"
          question={forceQuestion(forced)}
          onConfirm={() => start(forced)}
          onClose={() => setForced(null)}
        >
          <p>Rows that are newer at the end that is written to are lost.</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

function wantedBy(typed: Typed): TriggerRequest {
  return {
    table: typed("table") || null,
    direction: typed("direction") as Direction,
    full: typed("full") === "on",
    dry_run: typed("dry_run") === "on",
    force: typed("force") === "on",
    wait: false,
  };
}

async function start(body: TriggerRequest): Promise<void> {
  const isHere = whileHere();
  const run = await request("post /api/v1/sync/trigger", { body });
  if (isHere()) navigate(runAddress(run.run_id));
}

function forceQuestion({ table, direction }: TriggerRequest): string {
  const rows = table ? `rows of “${table}”` : "rows of all tables";
  return direction === "push"
    ? `Overwrite ${rows} at the remote with those from here?`
    : `Overwrite ${rows} here with those of the remote?`;
}
