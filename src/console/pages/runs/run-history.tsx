import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import type { Column } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ListView } from "../../components/list-view.tsx";
import { LongText } from "../../components/long-text.tsx";
import { durationText } from "../../components/numbers.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { queryValue } from "../../state/router.ts";
import {
  outcomeText,
  type Run,
  runAddress,
  tablesOf,
  toneOf,
  triggerText,
  workText,
} from "./run-text.ts";
import { RunningNow } from "./running-now.tsx";

const PAGE_SIZE = 20;
const POLL_MS = 3_000;

/** Runs and comparisons, the newest first, and those under way with what they tell. */
export function RunHistory() {
  const cursor = queryValue("cursor");
  const runs = useResource(
    (signal) =>
      request("get /api/v1/sync/runs", {
        query: { limit: PAGE_SIZE, ...(cursor === "" ? {} : { cursor }) },
        signal,
      }),
    { key: cursor, pollMs: POLL_MS },
  );
  const underWay = runs.data?.items.filter(({ status }) => status === "running") ?? [];
  return (
    <>
      <RunningNow runs={underWay} />
      <ListView
        resource={runs}
        caption="Runs and comparisons"
        columns={COLUMNS}
        keyOf={({ run_id: id }) => id}
        empty={
          <EmptyState title="Nothing has run yet">
            <p>
              Start a run above, or set <code>SYNC_SCHEDULE</code> for runs by the clock.
            </p>
          </EmptyState>
        }
      />
    </>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  {
    title: "Started",
    isHeader: true,
    cell: (run) => (
      <a class="no-wrap" href={runAddress(run.run_id)}>
        <TimeText at={run.started_at} />
      </a>
    ),
  },
  {
    title: "Status",
    cell: ({ status }) => <StatusBadge tone={toneOf(status)} text={status} />,
  },
  { title: "What", cell: workText },
  { title: "Tables", cell: (run) => <TableNames names={tablesOf(run)} /> },
  { title: "Outcome", cell: (run) => <Outcome run={run} /> },
  { title: "Took", isNumber: true, cell: ({ duration_ms }) => durationText(duration_ms) },
  { title: "Started by", cell: triggerText },
];

function TableNames({ names }: { readonly names: readonly string[] }) {
  if (names.length > 3) return <>{names.length} tables</>;
  return <bdi class="value">{names.join(", ")}</bdi>;
}

function Outcome({ run }: { readonly run: Run }) {
  if (run.error !== undefined) return <LongText text={run.error} maxChars={120} />;
  return <>{run.status === "running" ? "–" : outcomeText(run)}</>;
}
