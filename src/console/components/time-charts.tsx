// Counts over time as columns of days or a line, with the same numbers as a table.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Usage } from "../api/interface.ts";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { TimeText } from "./text.tsx";

interface ChartProps<Row> extends Omit<DataTableProps<Row>, "isCaptionHidden"> {
  /** What the colours mean, in their order. */
  readonly legend: readonly string[];
  /** The drawing, which screen readers skip. */
  readonly children: ComponentChildren;
}

/** A drawing, and its numbers as a table that is made when it is opened. */
function Chart<Row>({ legend, children, ...table }: ChartProps<Row>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <figure class="card">
      <figcaption>{table.caption}</figcaption>
      <p class="chart-legend quiet">
        {legend.map((text, i) => (
          <span key={i}>
            <span class="chart-swatch" style={{ background: colourOf(i) }} aria-hidden="true" />
            {text}
          </span>
        ))}
      </p>
      <div class="chart quiet small" aria-hidden="true">
        {children}
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Show as a table</summary>
        {isOpen && <DataTable {...table} isCaptionHidden />}
      </details>
    </figure>
  );
}

/** The colour of an entry of the legend. */
function colourOf(position: number): string {
  return `var(--chart-${position + 1})`;
}

function sumText(values: readonly number[]): string {
  return values.reduce((sum, value) => sum + value, 0).toLocaleString();
}

type Day = Usage["days"][number];

interface DayBarsProps {
  readonly caption: string;
  /** Without gaps, the oldest first. */
  readonly days: readonly Day[];
  /** What is counted, such as `Calls`. */
  readonly name: string;
}

const FULL_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const DAY_MONTH = { day: "numeric", month: "short" } as const;
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { ...DAY_MONTH, timeZone: "UTC" });

/** Counts of days as columns with the denied ones marked. */
export function DayBars({ caption, days, name }: DayBarsProps) {
  const greatest = Math.max(...days.map(({ calls }) => calls), 1);
  const calls = (day: Day) => day.calls.toLocaleString();
  const denied = (day: Day) => day.denied.toLocaleString();
  const height = (count: number) => `${(count / greatest) * 100}%`;
  return (
    <Chart
      caption={caption}
      legend={[
        `${name}: ${sumText(days.map((day) => day.calls))}`,
        `Denied: ${sumText(days.map((day) => day.denied))}`,
      ]}
      rows={days.toReversed()}
      keyOf={({ date }) => date}
      columns={[
        { title: "Day", cell: (day) => dayText(day, FULL_DAY), isHeader: true },
        { title: name, cell: calls, isNumber: true },
        { title: "Denied", cell: denied, isNumber: true },
      ]}
    >
      <div class="day-bars-greatest">{greatest.toLocaleString()}</div>
      <div class="day-bars">
        {days.map((day) => (
          <span
            key={day.date}
            class="day-bars-day"
            title={`${dayText(day, FULL_DAY)}: ${name} ${calls(day)}, Denied ${denied(day)}`}
          >
            <span style={{ background: colourOf(0), height: height(day.calls - day.denied) }} />
            <span style={{ background: colourOf(1), height: height(day.denied) }} />
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

function dayText(day: Day | undefined, format: Intl.DateTimeFormat): string {
  return day === undefined ? "" : format.format(new Date(`${day.date}T00:00:00Z`));
}

export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Steps between named times, the shortest first. */
const TIME_STEPS_MS = [5, 15, 60, 240, 1_440, 7_200].map((minutes) => minutes * MINUTE_MS);
/** The most times for which a narrow screen has room. */
const MAX_TIMES = 7;
const MAX_VALUES = 4;

/** `300K` fits into the margin. */
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact" });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, DAY_MONTH);
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

interface Point {
  /** ISO 8601. */
  readonly at: string;
  readonly count: number;
}

interface LineChartProps {
  /** The caption adds the sum. */
  readonly title: string;
  readonly name: string;
  /** In equal steps. */
  readonly points: readonly Point[];
}

/** Counts over time as a line. The legend shows the count at the pointer. */
export function LineChart({ title, name, points }: LineChartProps) {
  const [position, setPosition] = useState<number | null>(null);
  const pointed = position === null ? undefined : points[position];
  const rows = points.filter(({ count }) => count !== 0);
  const sum = rows.length === 0 ? "none yet" : `${sumText(rows.map(({ count }) => count))} in all`;
  return (
    <Chart
      caption={`${title}: ${sum}`}
      legend={[
        pointed === undefined
          ? name
          : `${name} at ${MOMENT.format(new Date(pointed.at))}: ${pointed.count.toLocaleString()}`,
      ]}
      isDense
      empty={<p>Nothing went on.</p>}
      // A day has many minutes, so those without anything are left out.
      rows={rows}
      keyOf={({ at }) => at}
      columns={[
        { title: "Time", cell: ({ at }) => <TimeText at={at} />, isHeader: true },
        { title: name, isNumber: true, cell: ({ count }) => count.toLocaleString() },
      ]}
    >
      <Plot points={points} position={position} onPoint={setPosition} />
    </Chart>
  );
}

interface PlotProps {
  readonly points: readonly Point[];
  /** The position of the point under the pointer. */
  readonly position: number | null;
  readonly onPoint: (position: number | null) => void;
}

/** The line stretches to the room there is; times and counts stand beside it. */
function Plot({ points, position, onPoint }: PlotProps) {
  const width = Math.max(points.length - 1, 1);
  const height = Math.max(...points.map(({ count }) => count), 1);
  const counts = countTicks(height);
  const moments = timeTicks(points);
  const grid = [
    ...counts.map((count) => `M0 ${height - count}H${width}`),
    ...moments.map(({ part }) => `M${part * width} 0V${height}`),
  ];
  const line = points.map(({ count }, x) => `${x === 0 ? "M" : "L"}${x} ${height - count}`);

  function point(event: PointerEvent) {
    const { left, width: room } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const nearest = Math.round(((event.clientX - left) / room) * width);
    onPoint(Math.min(Math.max(nearest, 0), width));
  }

  return (
    <div class="plot" onPointerMove={point} onPointerLeave={() => onPoint(null)}>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={grid.join("")} style={{ stroke: "var(--line)" }} />
        {position !== null && (
          <path d={`M${position} 0V${height}`} style={{ stroke: "var(--text-quiet)" }} />
        )}
        <path class="plot-line" d={line.join("")} style={{ stroke: colourOf(0) }} />
      </svg>
      {counts.map((count) => (
        <span key={count} class="plot-value" style={{ bottom: percent(count / height) }}>
          {SHORT.format(count)}
        </span>
      ))}
      {moments.map(({ part, text }) => (
        <span key={part} class="plot-time" style={{ left: percent(part) }}>
          {text}
        </span>
      ))}
    </div>
  );
}

/** Round counts from 0 up to the greatest. */
function countTicks(greatest: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(greatest));
  const steps = [0.5, 1, 2, 5].map((part) => part * power).filter((step) => step >= 1);
  const step = steps.find((each) => greatest / each < MAX_VALUES) ?? greatest;
  return Array.from({ length: Math.floor(greatest / step) + 1 }, (_, i) => i * step);
}

/** Round local times, with their places from 0 to 1. */
function timeTicks(points: readonly Point[]) {
  const [first = 0, last = first] = [points[0], points.at(-1)].map((end) =>
    Date.parse(end?.at ?? ""),
  );
  const span = last - first;
  const stepMs = TIME_STEPS_MS.find((each) => span / each <= MAX_TIMES) ?? span;
  const format = stepMs < DAY_MS ? HOUR : DAY;
  const zoneMs = new Date(first).getTimezoneOffset() * MINUTE_MS;
  const start = Math.ceil((first - zoneMs) / stepMs) * stepMs + zoneMs;
  const count = span > 0 ? Math.floor((last - start) / stepMs) + 1 : 0;
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * stepMs;
    return { part: (at - first) / span, text: format.format(at) };
  });
}

function percent(part: number): string {
  return `${part * 100}%`;
}
