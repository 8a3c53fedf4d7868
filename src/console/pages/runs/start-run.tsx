import { useState } from "preact/hooks";
import type { TriggerRequest } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { ActionForm, CheckField, SelectField, type Typed } from "../../components/form.tsx";
import { Card } from "../../components/notes.tsx";
import { navigate, whileHere } from "../../state/router.ts";
import { useTableNames } from "../tables/sync-status.tsx";
import { runAddress } from "./run-text.ts";

type Direction = NonNullable<TriggerRequest["direction"]>;

const DIRECTIONS = [
  ["both", "Push, then pull"],
  ["push", "Push: from here to there"],
  ["pull", "Pull: from there to here"],
] as const satisfies readonly (readonly [Direction, string])[];

/** Starts a run, and opens its page. D-9.4. */
export function StartRun() {
  const tables = useTableNames();
  /** What is asked about before it begins. */
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
        <SelectField
          label="Table"
          name="table"
          options={[["", "All tables"], ...tables.map((name) => [name, name] as const)]}
        />
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
