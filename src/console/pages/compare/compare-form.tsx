import { useState } from "preact/hooks";
import { ActionForm } from "../../components/action-form.tsx";
import { SelectField } from "../../components/field.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { queryValue } from "../../state/router.ts";
import { SyncDisabled } from "../tables/sync-disabled.tsx";
import { useSyncStatus } from "../tables/use-sync-status.ts";
import { startComparison } from "./start-comparison.ts";

/** Chooses a table and compares it. */
export function CompareForm() {
  const status = useSyncStatus();
  return (
    <ResourceView resource={status} name="the tables">
      {({ tables }) =>
        tables.length === 0 ? (
          <SyncDisabled />
        ) : (
          <section class="card" aria-labelledby="start-comparison">
            <h2 id="start-comparison">Compare a table with the remote's</h2>
            <TableChoice names={tables} />
          </section>
        )
      }
    </ResourceView>
  );
}

function TableChoice({ names }: { readonly names: readonly string[] }) {
  const [chosen, setChosen] = useState(queryValue("table"));
  const table = names.includes(chosen) ? chosen : (names[0] ?? "");
  return (
    <ActionForm name="Start" isRow onSubmit={() => startComparison({ table })}>
      {() => (
        <SelectField
          label="Table"
          value={table}
          onValue={setChosen}
          options={names.map((name) => [name, name] as const)}
        />
      )}
    </ActionForm>
  );
}
