import { DataTable } from "../components/data-table.tsx";

interface Day {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly all: number;
  /** Those of `all` that are marked. */
  readonly marked: number;
}

interface DayBarsProps {
  readonly caption: string;
  /** One after another, the oldest first. */
  readonly days: readonly Day[];
  /** What is counted, such as `Calls`, and those of them that are marked, such as `Denied`. */
  readonly names: readonly [all: string, marked: string];
}

const FULL_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const SHORT_DAY = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

/** Counts of days as columns, a part of each marked, and as a table for whoever wants to read them. */
export function DayBars({ caption, days, names }: DayBarsProps) {
  const greatest = Math.max(...days.map(({ all }) => all), 1);
  const [allName, markedName] = names;
  return (
    <figure class="chart">
      <figcaption>{caption}</figcaption>
      <p class="chart-legend">
        <Total name={allName} total={sumOf(days.map(({ all }) => all))} look="all" />
        <Total name={markedName} total={sumOf(days.map(({ marked }) => marked))} look="marked" />
      </p>
      <div class="day-bars" aria-hidden="true">
        <span class="day-bars-greatest">{greatest.toLocaleString()}</span>
        <div class="day-bars-columns">
          {days.map((day) => (
            <Column key={day.date} day={day} greatest={greatest} names={names} />
          ))}
        </div>
        <div class="day-bars-ends">
          <span>{dayText(days[0], SHORT_DAY)}</span>
          <span>{dayText(days.at(-1), SHORT_DAY)}</span>
        </div>
      </div>
      <details>
        <summary>Show as a table</summary>
        <DataTable
          caption={caption}
          isCaptionHidden
          rows={days.toReversed()}
          keyOf={({ date }) => date}
          columns={[
            { title: "Day", cell: (day) => dayText(day, FULL_DAY), isHeader: true },
            { title: allName, cell: ({ all }) => all.toLocaleString(), isNumber: true },
            { title: markedName, cell: ({ marked }) => marked.toLocaleString(), isNumber: true },
          ]}
        />
      </details>
    </figure>
  );
}

function Total({
  name,
  total,
  look,
}: {
  readonly name: string;
  readonly total: number;
  readonly look: "all" | "marked";
}) {
  return (
    <span>
      <span class={`chart-swatch chart-swatch-${look}`} aria-hidden="true" />
      {name}: {total.toLocaleString()}
    </span>
  );
}

function Column({
  day,
  greatest,
  names: [allName, markedName],
}: {
  readonly day: Day;
  readonly greatest: number;
  readonly names: DayBarsProps["names"];
}) {
  const { all, marked } = day;
  const counts = `${allName} ${all.toLocaleString()}, ${markedName} ${marked.toLocaleString()}`;
  return (
    <span class="day-bars-day" title={`${dayText(day, FULL_DAY)}: ${counts}`}>
      <span class="day-bars-all" style={{ height: `${(all / greatest) * 100}%` }}>
        <span
          class="day-bars-marked"
          style={{ height: `${all > 0 ? (marked / all) * 100 : 0}%` }}
        />
      </span>
    </span>
  );
}

function dayText(day: Day | undefined, format: Intl.DateTimeFormat): string {
  return day === undefined ? "" : format.format(new Date(`${day.date}T00:00:00Z`));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
