import { useState } from "preact/hooks";
import type { CompareRequest, CompareRun } from "../api/interface.ts";
import { readEventStream } from "../api/request.ts";
import { RequestError } from "../api/request-error.ts";
import { ConfirmButton } from "../components/confirm-dialog.tsx";
import { ActionForm, CheckField, SelectField } from "../components/form.tsx";
import { Card, EmptyState, Loaded, ResourceView } from "../components/notes.tsx";
import { counted } from "../components/text.tsx";
import { useTitle } from "../state/page-visit.ts";
import { queryValue, setQuery, whileHere } from "../state/router.ts";
import { useReply } from "../state/use-service.ts";
import { ShownRun } from "./runs/run-detail.tsx";
import { ENABLE_SYNC } from "./runs/run-state.tsx";
import { useWatchedRun } from "./runs/use-watched-run.ts";

type Repair = NonNullable<CompareRun["repair"]>;

const REPAIRS = [
  ["push", "The rows here are sent there"],
  ["pull", "The rows there are fetched"],
  [
    "newest",
    "Missing rows are copied both ways, and of two different rows the newer is kept at both ends",
  ],
] as const satisfies readonly (readonly [Repair, string])[];

/** Compares a table with the remote's, and repairs it. The address names the shown comparison. D-9.4. */
export function ComparePage() {
  const runId = queryValue("run");
  return (
    <>
      <CompareForm />
      {runId === "" ? (
        <EmptyState title="No comparison is shown">
          Choose a table and start. Earlier comparisons are among the{" "}
          <a href="/console/runs">runs</a>.
        </EmptyState>
      ) : (
        <Comparison key={runId} runId={runId} />
      )}
    </>
  );
}

function CompareForm() {
  return (
    <Loaded from="get /api/v1/sync/status" name="the tables">
      {({ tables }) =>
        tables.length === 0 ? (
          <EmptyState title="Synchronization is disabled">{ENABLE_SYNC}</EmptyState>
        ) : (
          <Card title="Compare a table with the remote's">
            <ActionForm
              name="Start"
              isRow
              onSubmit={(typed) => startComparison({ table: typed("table") })}
            >
              <SelectField
                label="Table"
                name="table"
                value={queryValue("table")}
                options={tables}
              />
            </ActionForm>
          </Card>
        )
      }
    </Loaded>
  );
}

function Comparison({ runId }: { readonly runId: string }) {
  const run = useReply("get /api/v1/sync/runs/{run_id}", { path: { run_id: runId } });
  const { watched } = useWatchedRun(runId);
  useTitle(run.data?.kind === "compare" ? run.data.table : "");
  return (
    <ResourceView resource={run} name="the comparison">
      {(data) =>
        data.kind === "compare" ? (
          <ShownRun run={data} watched={watched}>
            {isRepairable(data) && <RepairForm run={data} />}
          </ShownRun>
        ) : (
          <p>This run is no comparison.</p>
        )
      }
    </ResourceView>
  );
}

/** True for a comparison that found differences, and was no repair. */
function isRepairable(run: CompareRun): boolean {
  if (run.status !== "success" && run.status !== "partial") return false;
  return run.repair === null && run.different + run.missing_here + run.missing_there > 0;
}

/** Makes both ends equal in the rows that differ. D-7.5. */
function RepairForm({ run }: { readonly run: CompareRun }) {
  const [by, setBy] = useState<Repair>("newest");
  return (
    <Card title={`Repair ${run.table}`}>
      <fieldset class="choices">
        <legend>Repair by</legend>
        {REPAIRS.map(([repair, meaning]) => (
          <CheckField
            key={repair}
            label={repair}
            name="repair"
            hint={meaning}
            isRadio
            isChecked={repair === by}
            onChecked={() => setBy(repair)}
          />
        ))}
      </fieldset>
      <ConfirmButton
        name="Repair"
        look="danger"
        question={questionOf(run, by)}
        onConfirm={() => startComparison({ table: run.table, repair: by })}
      >
        <p>
          The table is compared again first, and what differs then is repaired. Rows that are
          overwritten cannot be brought back.
        </p>
      </ConfirmButton>
    </Card>
  );
}

/** Says what will be overwritten, and what added. */
function questionOf(run: CompareRun, by: Repair): string {
  const { table, different, missing_here: here, missing_there: there } = run;
  const rows = counted(different, "row");
  switch (by) {
    case "push":
      return `Overwrite ${rows} of “${table}” at the remote with those from here, and add ${there.toLocaleString()} there?`;
    case "pull":
      return `Overwrite ${rows} of “${table}” here with those of the remote, and add ${here.toLocaleString()} here?`;
    case "newest":
      return `Overwrite the older of ${counted(different, "different row")} of “${table}” at either end, and add ${here.toLocaleString()} here and ${there.toLocaleString()} there?`;
  }
}

/** Starts a comparison, which goes on by itself, and puts its id into the address. Throws `RequestError`. */
async function startComparison(body: CompareRequest): Promise<void> {
  const isHere = whileHere();
  const controller = new AbortController();
  let runId = "";
  const events = readEventStream("post /api/v1/sync/compare-sse", {
    body,
    signal: controller.signal,
    onHeaders: (headers) => {
      runId = headers.get("x-run-id") ?? "";
    },
  });
  // From the first event on, a comparison can be read by its id, and is watched as any other.
  const { value: first } = await events.next();
  controller.abort();
  // A comparison that cannot begin, as for a missing setting, has no run.
  if (first?.type === "error") throw new RequestError(400, first);
  if (isHere()) setQuery({ run: runId });
}
