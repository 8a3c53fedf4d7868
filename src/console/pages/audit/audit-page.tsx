import type { AuditItem } from "../../api/interface.ts";
import { localText, NAME_HINTS, utcText } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { StatusBadge } from "../../components/notes.tsx";
import { TimeText } from "../../components/text.tsx";
import { VerifyLog } from "./verify-log.tsx";

/** Times are typed as local ones and stand in the address in UTC. */
const TIME = { type: "datetime-local", toAddress: utcText, fromAddress: localText } as const;
const NOT_FOUND = [
  "No record is found here",
  "Choose another account or time; Next looks further back.",
] as const;

const RECORDS: ListDescription<"get /v1/admin/audit"> = {
  from: "get /v1/admin/audit",
  caption: "Records of the audit log",
  isCaptionHidden: true,
  limit: 50,
  filters: [
    { name: "account", label: "Account", hints: { ...NAME_HINTS, maxLength: 200 } },
    { name: "from", label: "From", ...TIME },
    { name: "until", label: "Until", ...TIME },
  ],
  keyOf: ({ id }) => id,
  columns: [
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
    { title: "By", cell: (item) => <Caller item={item} /> },
    {
      title: "About",
      cell: ({ subject }) => (subject === null ? "not in the log" : <bdi>{subject}</bdi>),
    },
    {
      title: "Outcome",
      cell: ({ decision, code }) => (
        <StatusBadge tone={decision === "allowed" ? "good" : "warning"} text={code ?? decision} />
      ),
    },
    {
      title: "Request",
      cell: ({ request_id }) => (
        <code>
          <bdi>{request_id}</bdi>
        </code>
      ),
    },
  ],
  empty: NOT_FOUND,
};

/** The audit log: whether it is whole, its heads, and its records by account or time. D-9.4. */
export function AuditPage() {
  return (
    <>
      <VerifyLog />
      <h2>Records</h2>
      <ListPage list={RECORDS} />
    </>
  );
}

function Caller({ item: { account, kind } }: { readonly item: AuditItem }) {
  if (account !== "") return <bdi>{account}</bdi>;
  return <>{kind === "admin" ? "command line, or erased" : "erased"}</>;
}
