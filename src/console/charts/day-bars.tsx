import { Chart, colourOf } from "./chart.tsx";

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

/** Counts of days as columns, a part of each marked. */
export function DayBars({ caption, days, names: [allName, markedName] }: DayBarsProps) {
  const greatest = Math.max(...days.map(({ all }) => all), 1);
  const all = (day: Day) => day.all.toLocaleString();
  const marked = (day: Day) => day.marked.toLocaleString();
  return (
    <Chart
      caption={caption}
      legend={[
        `${allName}: ${sumText(days.map((day) => day.all))}`,
        `${markedName}: ${sumText(days.map((day) => day.marked))}`,
      ]}
      rows={days.toReversed()}
      keyOf={({ date }) => date}
      columns={[
        { title: "Day", cell: (day) => dayText(day, FULL_DAY), isHeader: true },
        { title: allName, cell: all, isNumber: true },
        { title: markedName, cell: marked, isNumber: true },
      ]}
    >
      <div class="day-bars-greatest">{greatest.toLocaleString()}</div>
      <div class="day-bars">
        {days.map((day) => (
          <span
            key={day.date}
            class="day-bars-day"
            title={`${dayText(day, FULL_DAY)}: ${allName} ${all(day)}, ${markedName} ${marked(day)}`}
          >
            <Part count={day.all - day.marked} of={greatest} colour={colourOf(0)} />
            <Part count={day.marked} of={greatest} colour={colourOf(1)} />
          </span>
        ))}
      </div>
      <div class="chart-ends">
        <span>{dayText(days[0], SHORT_DAY)}</span>
        <span>{dayText(days.at(-1), SHORT_DAY)}</span>
      </div>
    </Chart>
  );
}

interface PartProps {
  readonly count: number;
  readonly of: number;
  readonly colour: string;
}

function Part({ count, of, colour }: PartProps) {
  return <span style={{ background: colour, height: `${(count / of) * 100}%` }} />;
}

function dayText(day: Day | undefined, format: Intl.DateTimeFormat): string {
  return day === undefined ? "" : format.format(new Date(`${day.date}T00:00:00Z`));
}

function sumText(values: readonly number[]): string {
  return values.reduce((sum, value) => sum + value, 0).toLocaleString();
}
