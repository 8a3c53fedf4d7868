import { useEffect, useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Facts } from "../../components/facts.tsx";
import { LongText } from "../../components/long-text.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { setTitle } from "../../state/use-page-visit.ts";
import { FieldsText, ValueText } from "../tables/value-text.tsx";
import { RejectedActions } from "./rejected-actions.tsx";

/** One rejected record: the reason, and all of its fields. */
export function RejectedDetail({ id }: { readonly id: string }) {
  const rejected = useResource((signal) =>
    request("get /api/v1/sync/rejected/{id}", { path: { id }, signal }),
  );
  const [isOver, setOver] = useState(false);
  useEffect(() => setTitle("Rejected", id), [id]);

  async function afterAction() {
    await rejected.reload();
    setOver(true);
  }

  const isGone = rejected.error?.status === 404;
  return (
    <>
      <p>
        <a href="/console/rejected">All rejected records</a>
      </p>
      {isGone ? (
        <EmptyState title={isOver ? "It waits no more" : "This record waits no more"}>
          <p>It was written or dropped.</p>
        </EmptyState>
      ) : (
        <ResourceView resource={rejected} name="the rejected record">
          {(data) => (
            <>
              <div class="card">
                <p class="reason">
                  <LongText text={data.message} />
                </p>
                <Facts
                  facts={[
                    [
                      "Table",
                      <bdi key="t" class="value">
                        {data.table}
                      </bdi>,
                    ],
                    ["Key", <FieldsText key="k" fields={data.key} />],
                    ["Rejected", data.direction === "push" ? "there" : "here"],
                    ["Tries", data.attempts.toLocaleString()],
                    ["First tried", <TimeText key="f" at={data.first_at} />],
                    ["Last tried", <TimeText key="l" at={data.last_at} />],
                  ]}
                />
                <RejectedActions record={data} onDone={afterAction} />
              </div>
              {data.record === null ? (
                <EmptyState title="The record is gone">
                  <p>It was removed where it comes from. Drop it here.</p>
                </EmptyState>
              ) : (
                <DataTable
                  caption="The record"
                  isDense
                  columns={COLUMNS}
                  rows={Object.entries(data.record)}
                  keyOf={([name]) => name}
                />
              )}
            </>
          )}
        </ResourceView>
      )}
    </>
  );
}

const COLUMNS: readonly Column<[string, unknown]>[] = [
  { title: "Column", isHeader: true, cell: ([name]) => <bdi class="value">{name}</bdi> },
  { title: "Value", cell: ([, value]) => <ValueText value={value} /> },
];
