import { useState } from "preact/hooks";
import { TimeText } from "../components/text.tsx";
import { Chart, colourOf } from "./chart.tsx";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Between two times that are named, the shortest first. */
const TIME_STEPS_MS = [5, 15, 60, 240, 1_440, 7_200].map((minutes) => minutes * MINUTE_MS);
/** What a narrow screen has room for. */
const MAX_TIMES = 7;
const MAX_VALUES = 4;

/** `300K` stands in the margin of every chart. */
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact" });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

interface ChartLine {
  readonly name: string;
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

interface LineChartProps {
  readonly caption: string;
  /** ISO 8601, one after another in equal steps. */
  readonly times: readonly string[];
  readonly lines: readonly ChartLine[];
}

/** Values over time as lines; those of the time that somebody points at stand over them. */
export function LineChart({ caption, times, lines }: LineChartProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  // Without the times at which nothing went on: a day has many minutes.
  const rows = times
    .map((at, i) => ({ at, values: lines.map(({ values }) => values[i] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0));
  const at = pointed === null ? undefined : times[pointed];
  return (
    <Chart
      caption={caption}
      legend={lines.map(({ name, values }) =>
        at === undefined
          ? name
          : `${name} at ${MOMENT.format(new Date(at))}: ${numberText(values[pointed ?? 0])}`,
      )}
      isDense
      empty={<p>Nothing went on.</p>}
      rows={rows}
      keyOf={(row) => row.at}
      columns={[
        { title: "Time", cell: (row) => <TimeText at={row.at} />, isHeader: true },
        ...lines.map(({ name }, i) => ({
          title: name,
          isNumber: true,
          cell: ({ values }: (typeof rows)[number]) => numberText(values[i]),
        })),
      ]}
    >
      <Plot times={times} lines={lines} pointed={pointed} onPoint={setPointed} />
    </Chart>
  );
}

interface PlotProps extends Omit<LineChartProps, "caption"> {
  /** The position of the time that is pointed at. */
  readonly pointed: number | null;
  readonly onPoint: (position: number | null) => void;
}

/** Lines stretch to whatever room there is; the names of times and values stand beside them. */
function Plot({ times, lines, pointed, onPoint }: PlotProps) {
  const width = Math.max(times.length - 1, 1);
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const height = Math.max(...known, 1);
  const values = valueTicks(height);
  const moments = timeTicks(times);
  const grid = [
    ...values.map((value) => `M0 ${height - value}H${width}`),
    ...moments.map(({ position }) => `M${position * width} 0V${height}`),
  ];

  function point(event: PointerEvent) {
    const { left, width: room } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const position = Math.round(((event.clientX - left) / room) * width);
    onPoint(Math.min(Math.max(position, 0), width));
  }

  return (
    <div class="plot" onPointerMove={point} onPointerLeave={() => onPoint(null)}>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={grid.join("")} style={{ stroke: "var(--line)" }} />
        {pointed !== null && (
          <path d={`M${pointed} 0V${height}`} style={{ stroke: "var(--text-quiet)" }} />
        )}
        {lines.map((line, i) => (
          <path
            key={line.name}
            class="plot-line"
            d={pathOf(line, height)}
            style={{ stroke: colourOf(i) }}
          />
        ))}
      </svg>
      {values.map((value) => (
        <span key={value} class="plot-value" style={{ bottom: percent(value / height) }}>
          {SHORT.format(value)}
        </span>
      ))}
      {moments.map(({ position, text }) => (
        <span key={position} class="plot-time" style={{ left: percent(position) }}>
          {text}
        </span>
      ))}
    </div>
  );
}

function pathOf({ values }: ChartLine, height: number): string {
  let isBegun = false;
  const steps = values.map((value, x) => {
    if (value === null) {
      isBegun = false;
      return "";
    }
    const step = `${isBegun ? "L" : "M"}${x} ${height - value}`;
    isBegun = true;
    return step;
  });
  return steps.join("");
}

/** Round values from 0 up to the greatest. */
function valueTicks(greatest: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(greatest));
  const steps = [0.5, 1, 2, 5].map((part) => part * power).filter((step) => step >= 1);
  const step = steps.find((each) => greatest / each < MAX_VALUES) ?? greatest;
  return Array.from({ length: Math.floor(greatest / step) + 1 }, (_, i) => i * step);
}

/** Round local times, with their places from 0 to 1. */
function timeTicks(times: readonly string[]) {
  const [first = 0, last = first] = [times[0], times.at(-1)].map((at) => Date.parse(at ?? ""));
  const span = last - first;
  const stepMs = TIME_STEPS_MS.find((each) => span / each <= MAX_TIMES) ?? span;
  const format = stepMs < DAY_MS ? HOUR : DAY;
  const zoneMs = new Date(first).getTimezoneOffset() * MINUTE_MS;
  const start = Math.ceil((first - zoneMs) / stepMs) * stepMs + zoneMs;
  const count = span > 0 ? Math.floor((last - start) / stepMs) + 1 : 0;
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * stepMs;
    return { position: (at - first) / span, text: format.format(at) };
  });
}

function numberText(value: number | null | undefined): string {
  return value?.toLocaleString() ?? "–";
}

function percent(part: number): string {
  return `${part * 100}%`;
}
