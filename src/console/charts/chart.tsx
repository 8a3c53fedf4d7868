import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { DataTable, type DataTableProps } from "../components/data-table.tsx";

interface ChartProps<Row> extends Omit<DataTableProps<Row>, "isCaptionHidden"> {
  /** What the colours stand for, in their order. */
  readonly legend: readonly string[];
  /** What only eyes read. */
  readonly children: ComponentChildren;
}

/** A picture of numbers, and the same numbers as a table for whoever wants to read them: made when somebody opens it. */
export function Chart<Row>({ legend, children, ...table }: ChartProps<Row>) {
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

/** Of a line or a part, by its place in the legend. */
export function colourOf(position: number): string {
  return `var(--chart-${position + 1})`;
}
