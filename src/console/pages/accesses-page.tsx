import type { Access } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { useResource } from "../api/use-resource.ts";
import type { Column } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { SelectField } from "../components/field.tsx";
import { ListView } from "../components/list-view.tsx";
import { LongText } from "../components/long-text.tsx";
import { StatusBadge } from "../components/status-badge.tsx";
import { TimeText } from "../components/time-text.tsx";
import { queryValue, setQuery } from "../state/router.ts";
import { AccessDays } from "./own/access-days.tsx";
import { LOOKUPS } from "./own/purposes.ts";

const PAGE_SIZE = 50;
const REASONS: Readonly<Record<string, string>> = {
  consent_required: "you had given no consent to it",
  profile_not_found: "your profile was hidden",
};

/** The page `Accesses`: who looked, when, for what, with which outcome, as a list or by days. D-9.4.10. */
export function AccessesPage() {
  const isByDay = queryValue("view") === "days";
  return (
    <>
      <p class="prose">
        Each lookup of you is here, the refused ones too. You decide about the next ones at{" "}
        <a href="/console/consents">Consents</a>.
      </p>
      <div class="form-row">
        <SelectField
          label="Show"
          value={isByDay ? "days" : ""}
          onValue={(view) => setQuery({ view, cursor: "" })}
          options={[
            ["", "As a list"],
            ["days", "By days"],
          ]}
        />
      </div>
      {isByDay ? <AccessDays /> : <AccessList />}
    </>
  );
}

function AccessList() {
  const cursor = queryValue("cursor");
  const list = useResource(
    (signal) =>
      request("get /v1/me/accesses", {
        query: { limit: PAGE_SIZE, ...(cursor === "" ? {} : { cursor }) },
        signal,
      }),
    { key: cursor },
  );
  return (
    <ListView
      caption="Accesses, the newest first"
      resource={list}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="Nobody has looked you up">
          <p>
            As soon as somebody does, it stands here. Lookups are refused until you{" "}
            <a href="/console/consents">give a consent</a>.
          </p>
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<Access>[] = [
  { title: "When", cell: ({ at }) => <TimeText at={at} /> },
  {
    title: "Who",
    cell: ({ account }) =>
      account === "" ? <span class="quiet">an erased account</span> : <LongText text={account} />,
    isHeader: true,
  },
  { title: "For", cell: ({ purpose }) => LOOKUPS[purpose] },
  {
    title: "Outcome",
    cell: ({ decision, code }) =>
      decision === "allowed" ? (
        <StatusBadge tone="good" text="allowed" />
      ) : (
        <>
          <StatusBadge tone="bad" text="denied" /> {REASONS[code ?? ""] ?? code}
        </>
      ),
  },
];
