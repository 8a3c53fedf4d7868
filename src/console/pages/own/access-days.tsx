import { useState } from "preact/hooks";
import type { Access, List } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { DayBars } from "../../charts/day-bars.tsx";
import { EmptyState, ResourceView } from "../../components/notes.tsx";

const DAYS = 31;
/** Items of one request, the most that a list gives. */
const PART_ITEMS = 1_000;
/** Requests after which the days before are left out. */
const MAX_PARTS = 20;

interface DayCounts {
  readonly days: readonly { date: string; all: number; marked: number }[];
  /** There are more in these days than were counted. */
  readonly isCut: boolean;
}

/** The accesses of the last days, in local time. */
export function AccessDays() {
  const [read, setRead] = useState(0);
  const counts = useResource((signal) => countByDay(signal, setRead));
  return (
    <ResourceView
      resource={counts}
      name={read === 0 ? "your accesses" : `your accesses, ${read.toLocaleString()} read`}
    >
      {({ days, isCut }) =>
        days.every(({ all }) => all === 0) ? (
          <EmptyState title={`Nobody has looked you up in the last ${DAYS} days`} />
        ) : (
          <>
            {isCut && (
              <p class="note">
                Only the newest {(PART_ITEMS * MAX_PARTS).toLocaleString()} accesses are counted.
              </p>
            )}
            <DayBars
              caption={`Accesses of the last ${DAYS} days`}
              names={["Accesses", "Denied"]}
              days={days}
            />
          </>
        )
      }
    </ResourceView>
  );
}

async function countByDay(
  signal: AbortSignal,
  onRead: (items: number) => void,
): Promise<DayCounts> {
  const days = lastDays();
  const [earliest] = days.keys();
  let cursor = "";
  for (let part = 1; part <= MAX_PARTS; part++) {
    const { items, next_cursor }: List<Access> = await request("get /v1/me/accesses", {
      query: { limit: PART_ITEMS, cursor },
      signal,
    });
    for (const { at, decision } of items) {
      const day = days.get(localDate(new Date(at)));
      if (day === undefined) continue;
      day.all++;
      if (decision === "denied") day.marked++;
    }
    onRead((part - 1) * PART_ITEMS + items.length);
    const last = items.at(-1);
    const isOver = last === undefined || localDate(new Date(last.at)) < (earliest ?? "");
    if (next_cursor === null || isOver) return { days: [...days.values()], isCut: false };
    cursor = next_cursor;
  }
  return { days: [...days.values()], isCut: true };
}

/** The last days by their dates, the oldest first, with nothing counted. */
function lastDays() {
  const now = new Date();
  const dates = Array.from({ length: DAYS }, (_, i) =>
    localDate(new Date(now.getFullYear(), now.getMonth(), now.getDate() - (DAYS - 1 - i), 12)),
  );
  return new Map(dates.map((date) => [date, { date, all: 0, marked: 0 }]));
}

/** `YYYY-MM-DD` in local time. */
function localDate(time: Date): string {
  const [month, day] = [time.getMonth() + 1, time.getDate()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${time.getFullYear()}-${month}-${day}`;
}
