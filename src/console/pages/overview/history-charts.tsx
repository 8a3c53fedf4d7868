import { useState } from "preact/hooks";
import type { Overview } from "../../api/interface.ts";
import { LineChart } from "../../charts/line-chart.tsx";
import { SelectField } from "../../components/form.tsx";
import { queryValue, setQuery } from "../../state/router.ts";

type History = Overview["history"];

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const SPANS = [
  ["minutes", "A day, by minute"],
  ["hours", "A month, by hour"],
] as const;

/** Rows moved and lookups over time. */
export function HistoryCharts({ history }: { readonly history: History }) {
  const [span, setSpan] = useState(queryValue("span") === "hours" ? "hours" : "minutes");
  const points =
    span === "hours"
      ? withQuiet(history.hours, HOUR_MS, 31 * 24)
      : withQuiet(history.minutes, MINUTE_MS, 24 * 60);
  const times = points.map(({ at }) => at);

  function choose(value: string) {
    setSpan(value);
    setQuery({ span: value === "minutes" ? "" : value }, { isReplaced: true });
  }

  return (
    <section aria-labelledby="history">
      <div class="toolbar">
        <h2 id="history">Over time</h2>
        <SelectField label="Span" value={span} onValue={choose} options={SPANS} />
      </div>
      <LineChart
        caption={`Rows moved: ${sumText(points.map(({ rows }) => rows))}`}
        times={times}
        lines={[{ name: "Rows", values: points.map(({ rows }) => rows) }]}
      />
      <LineChart
        caption={`Lookups: ${sumText(points.map(({ lookups }) => lookups))}`}
        times={times}
        lines={[{ name: "Lookups", values: points.map(({ lookups }) => lookups) }]}
      />
    </section>
  );
}

/** The last `count` steps of time: those in which nothing went on are not told, and count as 0. */
function withQuiet(told: History["hours"], stepMs: number, count: number): History["hours"] {
  const last = Math.floor(Date.now() / stepMs);
  const known = new Map(told.map((point) => [Math.floor(Date.parse(point.at) / stepMs), point]));
  return Array.from({ length: count }, (_, i) => {
    const step = last - count + 1 + i;
    const at = new Date(step * stepMs).toISOString();
    return known.get(step) ?? { at, rows: 0, lookups: 0 };
  });
}

function sumText(values: readonly number[]): string {
  const sum = values.reduce((total, value) => total + value, 0);
  return sum === 0 ? "none yet" : `${sum.toLocaleString()} in all`;
}
