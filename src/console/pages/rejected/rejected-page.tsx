import type { RejectedRecord } from "../../api/interface.ts";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { counted, FieldsText, LongText, TimeText } from "../../components/text.tsx";
import { queryValue } from "../../state/router.ts";
import { useTableNames } from "../tables/sync-status.tsx";
import { RejectedActions, RejectedDetail } from "./rejected-detail.tsx";

const WAITING = "A record that an end rejects waits here, and the next run tries it again first.";

const REJECTED: ListDescription<"get /api/v1/sync/rejected"> = {
  from: "get /api/v1/sync/rejected",
  caption: "Rejected records",
  limit: 20,
  pollMs: 10_000,
  keyOf: ({ id }) => id,
  columns: [
    {
      title: "Record",
      isHeader: true,
      cell: ({ id, table, key }) => (
        <>
          <a href={`/console/rejected/${encodeURIComponent(id)}`}>
            <bdi>{table}</bdi>
          </a>
          <FieldsText fields={key} maxChars={40} />
        </>
      ),
    },
    { title: "Reason", cell: (record) => <Reason record={record} /> },
    { title: "Actions", cell: (record) => <RejectedActions record={record} /> },
  ],
  empty: ["Nothing was rejected", WAITING],
  unmatched: ["Nothing of this table was rejected", WAITING],
};

/** Records that one end rejected: why, and what to do about it. `id`: one of them. D-9.4. */
export function RejectedPage({ id }: Readonly<Record<string, string>>) {
  if (id === undefined) return <RejectedList />;
  return <RejectedDetail id={id} />;
}

function RejectedList() {
  // The address may name a table before the others are known.
  const names = [...new Set([...useTableNames(), queryValue("table")])].filter(Boolean);
  const options = [["", "All tables"], ...names.map((name) => [name, name] as const)] as const;
  return <ListPage list={{ ...REJECTED, filters: [{ name: "table", label: "Table", options }] }} />;
}

function Reason({ record }: { readonly record: RejectedRecord }) {
  const { message, direction, attempts, last_at: lastAt } = record;
  return (
    <>
      <LongText text={message} />
      <div class="quiet small">
        Rejected {direction === "push" ? "there" : "here"}, {counted(attempts, "try", "tries")}, the
        last <TimeText at={lastAt} />
      </div>
    </>
  );
}
