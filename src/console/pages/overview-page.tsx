import type { Overview } from "../api/interface.ts";
import { RequestError } from "../api/request-error.ts";
import { ErrorNote } from "../components/buttons.tsx";
import { type Column, countColumn, DataTable } from "../components/data-table.tsx";
import { SelectField } from "../components/form.tsx";
import { Card, EmptyState, Loaded, StatusBadge } from "../components/notes.tsx";
import { durationText, TimeText } from "../components/text.tsx";
import { LineChart, MINUTE_MS } from "../components/time-charts.tsx";
import { queryValue, setQuery } from "../state/router.ts";
import { ENABLE_SYNC, runAddress, toneOf } from "./runs/run-state.tsx";

/** Health, remote, schedule, tables at both ends, and history of this deployment. D-9.4. */
export function OverviewPage() {
  return (
    <Loaded from="get /api/v1/sync/overview" name="the overview" isPolled>
      {(data) => (
        <>
          {data.registry_problem !== null && <RegistryNote problem={data.registry_problem} />}
          <DeploymentCards overview={data} />
          <DataTable
            caption="Tables"
            columns={COLUMNS}
            rows={data.tables}
            keyOf={({ table }) => table}
            empty={
              <EmptyState title="There are no tables">
                Name a registry file in <code>SYNC_TABLES</code>.
              </EmptyState>
            }
          />
          <HistoryCharts history={data.history} />
        </>
      )}
    </Loaded>
  );
}

/** Says that the registry file cannot be taken up, or a table is not used. D-14.6. */
function RegistryNote({ problem }: { readonly problem: string }) {
  const hint =
    "The registry file cannot be taken up, or a table is not used. The others stay as they were.";
  return <ErrorNote error={new RequestError(0, { detail: problem, hint })} />;
}

/** Each card says what to do where something is missing. */
function DeploymentCards({ overview }: { readonly overview: Overview }) {
  const { health, remote, schedule } = overview;
  return (
    <div class="cards">
      <Card title="Service">
        <p>
          <StatusBadge tone={health.status === "ok" ? "good" : "bad"} text={health.status} />
        </p>
        {health.db !== "ok" && <p>The store does not answer. Check the database.</p>}
        {overview.sync_enabled ? (
          <p>Synchronization is enabled</p>
        ) : (
          <p>Synchronization is disabled. {ENABLE_SYNC}</p>
        )}
      </Card>
      <Card title="Remote">
        <Remote remote={remote} />
      </Card>
      <Card title="Schedule">
        <Schedule schedule={schedule} />
      </Card>
    </div>
  );
}

function Remote({ remote: { url, reachable, error } }: Pick<Overview, "remote">) {
  if (url === null) {
    return (
      <p>
        There is none. Set <code>SYNC_REMOTE_URL</code> to the address of the other deployment, and{" "}
        <code>SYNC_REMOTE_KEY</code> to its key.
      </p>
    );
  }
  return (
    <>
      <p>
        <StatusBadge
          tone={reachable ? "good" : "bad"}
          text={reachable ? "reachable" : "out of reach"}
        />
      </p>
      <p>
        <bdi>{url}</bdi>
      </p>
      {error !== null && (
        <p>
          <bdi>{error}</bdi>. Check the remote and <code>SYNC_REMOTE_URL</code>.
        </p>
      )}
    </>
  );
}

function Schedule({ schedule: { cron, next_at: nextAt } }: Pick<Overview, "schedule">) {
  if (cron === null) {
    return (
      <p>
        There is none. Set <code>SYNC_SCHEDULE</code>, such as <code>*/5 * * * *</code>, or{" "}
        <a href="/console/runs">start a run</a> by hand.
      </p>
    );
  }
  return (
    <>
      <p>
        <code>{cron}</code>
      </p>
      {nextAt !== null && (
        <p>
          Next run at <TimeText at={nextAt} />, in{" "}
          {durationText(Math.max(0, Date.parse(nextAt) - Date.now()))}
        </p>
      )}
    </>
  );
}

type History = Overview["history"];

const SPANS = [
  ["", "A day, by minute"],
  ["hours", "A month, by hour"],
] as const;

function HistoryCharts({ history }: { readonly history: History }) {
  const isByHour = queryValue("span") === "hours";
  const points = isByHour
    ? withQuiet(history.hours, 60 * MINUTE_MS, 31 * 24)
    : withQuiet(history.minutes, MINUTE_MS, 24 * 60);
  return (
    <section aria-labelledby="history">
      <div class="toolbar">
        <h2 id="history">Over time</h2>
        <SelectField
          label="Span"
          value={isByHour ? "hours" : ""}
          onValue={(span) => setQuery({ span }, { isReplaced: true })}
          options={SPANS}
        />
      </div>
      <LineChart
        title="Rows moved"
        name="Rows"
        points={points.map(({ at, rows }) => ({ at, count: rows }))}
      />
      <LineChart
        title="Lookups"
        name="Lookups"
        points={points.map(({ at, lookups }) => ({ at, count: lookups }))}
      />
    </section>
  );
}

/** The last `count` steps of time; quiet ones, which the service leaves out, count as 0. */
function withQuiet(told: History["hours"], stepMs: number, count: number): History["hours"] {
  const last = Math.floor(Date.now() / stepMs);
  const known = new Map(told.map((point) => [Math.floor(Date.parse(point.at) / stepMs), point]));
  return Array.from({ length: count }, (_, i) => {
    const step = last - count + 1 + i;
    const at = new Date(step * stepMs).toISOString();
    return known.get(step) ?? { at, rows: 0, lookups: 0 };
  });
}

type TableState = Overview["tables"][number];

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
  countColumn("Rows here", ({ rows_here: rows }) => rows),
  countColumn("Rows there", ({ rows_there: rows }) => rows),
  { title: "Drift", isNumber: true, cell: (state) => <Drift state={state} /> },
  { title: "Behind", isNumber: true, cell: ({ behind_seconds: seconds }) => behindText(seconds) },
  { title: "Last run", cell: ({ last_run: run }) => <LastRun run={run} /> },
];

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
