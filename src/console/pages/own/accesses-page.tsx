import { useState } from "preact/hooks";
import type { Access, List } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { SelectField } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { EmptyState, ResourceView, StatusBadge } from "../../components/notes.tsx";
import { LongText, localText, TimeText } from "../../components/text.tsx";
import { DayBars } from "../../components/time-charts.tsx";
import { queryValue, setQuery } from "../../state/router.ts";
import { useResource } from "../../state/use-service.ts";

/** D-6.1. */
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

/** Who looked, when, for what, with which outcome, as a list or by days. D-9.4.10. */
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

const DAYS = 31;
/** The most items of one request. */
const PART_ITEMS = 1_000;
/** After so many requests earlier days are left out. */
const MAX_PARTS = 20;

/** Accesses by day in local time. */
function AccessDays() {
  const [read, setRead] = useState(0);
  const counts = useResource((signal) => countByDay(signal, setRead));
  return (
    <ResourceView
      resource={counts}
      name={read === 0 ? "your accesses" : `your accesses, ${read.toLocaleString()} read`}
    >
      {({ days, isCut }) =>
        days.every(({ calls }) => calls === 0) ? (
          <EmptyState title={`Nobody has looked you up in the last ${DAYS} days`} />
        ) : (
          <>
            {isCut && (
              <p class="note">
                Only the newest {(PART_ITEMS * MAX_PARTS).toLocaleString()} accesses are counted.
              </p>
            )}
            <DayBars caption={`Accesses of the last ${DAYS} days`} name="Accesses" days={days} />
          </>
        )
      }
    </ResourceView>
  );
}

/** `isCut` is true when some accesses of these days were not counted. */
async function countByDay(signal: AbortSignal, onRead: (items: number) => void) {
  const days = lastDays();
  const [earliest] = days.keys();
  let cursor = "";
  for (let part = 1; part <= MAX_PARTS; part++) {
    const { items, next_cursor }: List<Access> = await request("get /v1/me/accesses", {
      query: { limit: PART_ITEMS, cursor },
      signal,
    });
    for (const { at, decision } of items) {
      const day = days.get(localDate(at));
      if (day === undefined) continue;
      day.calls++;
      if (decision === "denied") day.denied++;
    }
    onRead((part - 1) * PART_ITEMS + items.length);
    const last = items.at(-1);
    const isOver = last === undefined || localDate(last.at) < (earliest ?? "");
    if (next_cursor === null || isOver) return { days: [...days.values()], isCut: false };
    cursor = next_cursor;
  }
  return { days: [...days.values()], isCut: true };
}

/** Counts of 0 by date, the oldest first. */
function lastDays() {
  const now = new Date();
  const noon = (day: number) => new Date(now.getFullYear(), now.getMonth(), day, 12).toISOString();
  const dates = Array.from({ length: DAYS }, (_, i) =>
    localDate(noon(now.getDate() - (DAYS - 1 - i))),
  );
  return new Map(dates.map((date) => [date, { date, calls: 0, denied: 0 }]));
}

/** `YYYY-MM-DD` in local time. */
function localDate(utc: string): string {
  return localText(utc).slice(0, 10);
}
