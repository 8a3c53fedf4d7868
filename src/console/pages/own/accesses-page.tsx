import type { Access } from "../../api/interface.ts";
import { SelectField } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { StatusBadge } from "../../components/notes.tsx";
import { LongText, TimeText } from "../../components/text.tsx";
import { queryValue, setQuery } from "../../state/router.ts";
import { AccessDays } from "./access-days.tsx";

/** What was asked for by a lookup. D-6.1. */
const LOOKUPS: Readonly<Record<Access["purpose"], string>> = {
  reputation_lookup: "Score",
  profile_lookup: "Profile",
  platforms_lookup: "Platforms",
};
const REASONS: Readonly<Record<string, string>> = {
  consent_required: "you had given no consent to it",
  profile_not_found: "your profile was hidden",
};

const ACCESSES: ListDescription<"get /v1/me/accesses"> = {
  from: "get /v1/me/accesses",
  caption: "Accesses, the newest first",
  limit: 50,
  keyOf: ({ id }) => id,
  columns: [
    { title: "When", cell: ({ at }) => <TimeText at={at} /> },
    {
      title: "Who",
      cell: ({ account }) =>
        account === "" ? <span class="quiet">an erased account</span> : <LongText text={account} />,
      isHeader: true,
    },
    { title: "For", cell: ({ purpose }) => LOOKUPS[purpose] },
    { title: "Outcome", cell: (access) => <Outcome access={access} /> },
  ],
  empty: [
    "Nobody has looked you up",
    <>
      As soon as somebody does, it stands here. Lookups are refused until you{" "}
      <a href="/console/consents">give a consent</a>.
    </>,
  ],
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
      {isByDay ? <AccessDays /> : <ListPage list={ACCESSES} />}
    </>
  );
}

function Outcome({ access: { decision, code } }: { readonly access: Access }) {
  if (decision === "allowed") return <StatusBadge tone="good" text="allowed" />;
  return (
    <>
      <StatusBadge tone="bad" text="denied" /> {REASONS[code ?? ""] ?? code}
    </>
  );
}
