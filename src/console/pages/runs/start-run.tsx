import { useState } from "preact/hooks";
import type { TriggerRequest } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useAction } from "../../api/use-action.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { CheckField, SelectField } from "../../components/field.tsx";
import { navigate } from "../../state/router.ts";
import { useTableNames } from "../tables/use-sync-status.ts";
import { runAddress } from "./run-text.ts";

type Direction = "both" | "push" | "pull";

const DIRECTIONS = [
  ["both", "Push, then pull"],
  ["push", "Push: from here to there"],
  ["pull", "Pull: from there to here"],
] as const;

/** Starts a run, and opens its page. D-9.4. */
export function StartRun() {
  const tables = useTableNames();
  const [table, setTable] = useState("");
  const [direction, setDirection] = useState<Direction>("both");
  const [full, setFull] = useState(false);
  const [dryRun, setDryRun] = useState(false);
  const [force, setForce] = useState(false);
  const [isAsking, setAsking] = useState(false);
  async function start() {
    const body: TriggerRequest = {
      ...{ direction, full, dry_run: dryRun, force, wait: false },
      ...(table === "" ? {} : { table }),
    };
    const run = await request("post /api/v1/sync/trigger", { body });
    navigate(runAddress(run.run_id));
  }

  const action = useAction(async () => {
    if (force && !dryRun && direction !== "both") setAsking(true);
    else await start();
  });

  return (
    <form
      class="card"
      aria-labelledby="start-run"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run();
      }}
    >
      <h2 id="start-run">Start a run</h2>
      <ErrorNote error={action.error} />
      <div class="form-row">
        <SelectField
          label="Table"
          value={table}
          onValue={setTable}
          options={[["", "All tables"], ...tables.map((name) => [name, name] as const)]}
        />
        <SelectField
          label="Direction"
          value={direction}
          onValue={(value) => setDirection(value as Direction)}
          options={DIRECTIONS}
        />
      </div>
      <div class="checks">
        <CheckField
          label="Full"
          hint="Every row, not only what changed since the last run"
          isChecked={full}
          onChecked={setFull}
        />
        <CheckField
          label="Dry run"
          hint="Only counts what would move"
          isChecked={dryRun}
          onChecked={setDryRun}
        />
        <CheckField
          label="Force"
          hint="Overwrites newer rows too; in one direction only"
          isChecked={force}
          onChecked={setForce}
        />
      </div>
      <ActionButton type="submit" look="main" isBusy={action.isBusy}>
        Start
      </ActionButton>
      {isAsking && (
        <ConfirmDialog
          name="Start"
          question={forceQuestion(table, direction)}
          onConfirm={start}
          onClose={() => setAsking(false)}
        >
          <p>Rows that are newer at the end that is written to are lost.</p>
        </ConfirmDialog>
      )}
    </form>
  );
}

function forceQuestion(table: string, direction: Direction): string {
  const rows = table === "" ? "rows of all tables" : `rows of “${table}”`;
  return direction === "push"
    ? `Overwrite ${rows} at the remote with those from here?`
    : `Overwrite ${rows} here with those of the remote?`;
}
