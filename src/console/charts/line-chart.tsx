import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { DataTable } from "../components/data-table.tsx";
import { TimeText } from "../components/time-text.tsx";

const DAY_SECONDS = 86_400;
/** `300K` stands in the margin of every chart. */
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact" });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export interface ChartLine {
  readonly name: string;
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

interface LineChartProps {
  readonly caption: string;
  /** ISO 8601, in order. */
  readonly times: readonly string[];
  readonly lines: readonly ChartLine[];
  readonly height?: number;
}

/** Values over time, as lines in the colours of the scheme, and as a table for whoever wants to read them. */
export function LineChart(props: LineChartProps) {
  const { caption, times, lines } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const names = lines.map(({ name }) => name).join("\n");
  const plot = useRef<uPlot | null>(null);
  const height = props.height ?? 180;
  const data = dataOf(times, lines);
  const dataRef = useRef(data);
  dataRef.current = data;

  useEffect(() => {
    if (frame.current === null) return;
    return keepDrawn(frame.current, (element) => {
      plot.current?.destroy();
      const options = optionsOf(names.split("\n"), element.clientWidth, height);
      plot.current = new uPlot(options, dataRef.current, element);
      return plot.current;
    });
  }, [names, height]);
  useEffect(() => plot.current?.setData(data));

  return (
    <figure class="chart">
      <figcaption>{caption}</figcaption>
      <div ref={frame} aria-hidden="true" />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Show as a table</summary>
        {isOpen && <LineTable {...props} />}
      </details>
    </figure>
  );
}

/** Made when somebody wants to read it, without the times at which nothing went on: a day has many minutes. */
function LineTable({ caption, times, lines }: LineChartProps) {
  const rows = times
    .map((at, i) => ({ at, values: lines.map(({ values }) => values[i] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0));
  return (
    <DataTable
      caption={caption}
      isCaptionHidden
      isDense
      empty={<p>Nothing went on.</p>}
      rows={rows}
      keyOf={({ at }) => at}
      columns={[
        { title: "Time", cell: ({ at }) => <TimeText at={at} />, isHeader: true },
        ...lines.map(({ name }, i) => ({
          title: name,
          isNumber: true,
          cell: ({ values }: (typeof rows)[number]) => values[i]?.toLocaleString() ?? "–",
        })),
      ]}
    />
  );
}

/** Draws now, anew in another colour scheme, and in another width. Returns how to stop. */
function keepDrawn(element: HTMLElement, draw: (element: HTMLElement) => uPlot): () => void {
  let plot = draw(element);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => {
    plot = draw(element);
  };
  const observer = new ResizeObserver(() => {
    if (element.clientWidth > 0 && element.clientWidth !== plot.width) {
      plot.setSize({ width: element.clientWidth, height: plot.height });
    }
  });
  dark.addEventListener("change", redraw);
  observer.observe(element);
  return () => {
    dark.removeEventListener("change", redraw);
    observer.disconnect();
    plot.destroy();
  };
}

function dataOf(times: readonly string[], lines: readonly ChartLine[]): uPlot.AlignedData {
  return [
    times.map((at) => Date.parse(at) / 1000),
    ...lines.map(({ values }) => [...values]),
  ] as uPlot.AlignedData;
}

function optionsOf(names: readonly string[], width: number, height: number): uPlot.Options {
  const colour = (name: string) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--text-quiet"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
  };
  return {
    width,
    height,
    cursor: { drag: { x: false, y: false } },
    axes: [
      {
        ...axis,
        values: (...[, splits, , , stepSeconds]) => {
          const format = stepSeconds < DAY_SECONDS ? HOUR : DAY;
          return splits.map((at) => format.format(at * 1000));
        },
      },
      { ...axis, size: 60, values: (_, splits) => splits.map((value) => SHORT.format(value)) },
    ],
    scales: { y: { range: (_, min, max) => [Math.min(0, min ?? 0), Math.max(max ?? 1, 1)] } },
    series: [
      { label: "Time", value: (_, at) => (at === null ? "–" : MOMENT.format(at * 1000)) },
      ...names.map((label, i) => ({
        label,
        stroke: colour(`--chart-${(i % 4) + 1}`),
        width: 2,
        points: { show: false },
        value: (_: uPlot, value: number | null) => value?.toLocaleString() ?? "–",
      })),
    ],
  };
}
