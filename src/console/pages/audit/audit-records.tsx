import { useState } from "preact/hooks";
import type { AuditItem } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { ActionForm } from "../../components/action-form.tsx";
import type { Column } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Field } from "../../components/field.tsx";
import { ListView } from "../../components/list-view.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { queryValue, setQuery } from "../../state/router.ts";

const PAGE_SIZE = 50;
const FILTERS = ["account", "from", "until"] as const;

/** Records of lookups and of administration, the newest first. The filter stands in the address. */
export function AuditRecords() {
  const wanted = Object.fromEntries(
    [...FILTERS, "cursor"]
      .map((name) => [name, queryValue(name)])
      .filter(([, value]) => value !== ""),
  );
  const records = useResource(
    (signal) => request("get /v1/admin/audit", { query: { ...wanted, limit: PAGE_SIZE }, signal }),
    { key: JSON.stringify(wanted) },
  );
  return (
    <>
      <h2>Records</h2>
      <FilterForm key={FILTERS.map(queryValue).join("\n")} />
      <ListView
        resource={records}
        caption="Records of the audit log"
        isCaptionHidden
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No record is found here">
            <p>Choose another account or time; Next looks further back.</p>
          </EmptyState>
        }
      />
    </>
  );
}

const COLUMNS: readonly Column<AuditItem>[] = [
  {
    title: "At",
    isHeader: true,
    cell: ({ at }) => (
      <span class="no-wrap">
        <TimeText at={at} />
      </span>
    ),
  },
  { title: "What", cell: ({ kind, purpose, action }) => `${kind}: ${purpose ?? action ?? ""}` },
  {
    title: "By",
    cell: ({ account, kind }) =>
      account === "" ? (
        kind === "admin" ? (
          "command line, or erased"
        ) : (
          "erased"
        )
      ) : (
        <bdi class="value">{account}</bdi>
      ),
  },
  {
    title: "About",
    cell: ({ subject }) =>
      subject === null ? "not in the log" : <bdi class="value">{subject}</bdi>,
  },
  {
    title: "Outcome",
    cell: ({ decision, code }) => (
      <StatusBadge tone={decision === "allowed" ? "good" : "warning"} text={code ?? decision} />
    ),
  },
  { title: "Request", cell: ({ request_id }) => <code class="value">{request_id}</code> },
];

/** Times are typed as local ones and stand in the address in UTC. */
function FilterForm() {
  const [account, setAccount] = useState(queryValue("account"));
  const [from, setFrom] = useState(localText(queryValue("from")));
  const [until, setUntil] = useState(localText(queryValue("until")));

  async function search() {
    setQuery({ account, from: utcText(from), until: utcText(until), cursor: "" });
  }

  return (
    <search>
      <ActionForm name="Search" isRow onSubmit={search}>
        {() => (
          <>
            <Field
              label="Account"
              value={account}
              onValue={setAccount}
              hints={{ autocapitalize: "none", spellcheck: false, maxLength: 200 }}
            />
            <Field label="From" type="datetime-local" value={from} onValue={setFrom} />
            <Field label="Until" type="datetime-local" value={until} onValue={setUntil} />
          </>
        )}
      </ActionForm>
    </search>
  );
}

function utcText(local: string): string {
  return local === "" ? "" : new Date(local).toISOString();
}

/** As the browser writes local times in a field; empty for no time. */
function localText(utc: string): string {
  const time = new Date(utc);
  if (utc === "" || Number.isNaN(time.getTime())) return "";
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
