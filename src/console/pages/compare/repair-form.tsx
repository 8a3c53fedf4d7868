import { useState } from "preact/hooks";
import type { CompareRun } from "../../api/interface.ts";
import { ChoiceField } from "../../components/choice-field.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { counted } from "../../components/numbers.ts";
import { startComparison } from "./start-comparison.ts";

type Repair = NonNullable<CompareRun["repair"]>;

const WAYS = [
  ["push", "The rows here are sent there"],
  ["pull", "The rows there are fetched"],
  [
    "newest",
    "Missing rows are copied both ways, and of two different rows the newer is kept at both ends",
  ],
] as const;

/** Makes both ends equal in the rows that a comparison found. D-7.5. */
export function RepairForm({ run }: { readonly run: CompareRun }) {
  const [by, setBy] = useState<Repair>("newest");
  return (
    <section class="card" aria-labelledby="repair">
      <h2 id="repair">Repair {run.table}</h2>
      <ChoiceField
        legend="Repair by"
        value={by}
        onValue={(value) => setBy(value as Repair)}
        options={WAYS}
      />
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
    </section>
  );
}

/** Names what will be overwritten, and what will be added. */
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
