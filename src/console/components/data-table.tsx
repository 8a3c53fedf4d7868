import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { type Fields, ValueText } from "./text.tsx";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligned right. */
  readonly isNumber?: boolean;
  /** True marks the cell, also for screen readers. */
  readonly isMarked?: (row: Row) => boolean;
  /** The cell names its row. */
  readonly isHeader?: boolean;
}

export interface DataTableProps<Row> {
  readonly caption: string;
  readonly isCaptionHidden?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Keeps each row in its place when rows are loaded again. */
  readonly keyOf: (row: Row, position: number) => string | number;
  /** Less space between rows. */
  readonly isDense?: boolean;
  /** Other rows are being loaded. */
  readonly isStale?: boolean;
  /** In place of a table without rows. */
  readonly empty?: ComponentChildren;
}

/** A table that scrolls in its own frame when it is too wide. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, keyOf, isStale = false, empty } = props;
  const captionId = useId();
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrow keys.
    <section class="table-frame" aria-labelledby={captionId} tabIndex={0}>
      <table class={props.isDense ? "dense" : undefined} aria-busy={isStale || undefined}>
        <caption id={captionId} class={props.isCaptionHidden ? "for-readers" : undefined}>
          <bdi>{caption}</bdi>
        </caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, position) => (
            <tr key={keyOf(row, position)}>
              {columns.map((column) => (
                <Cell key={column.title} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A column of counts; `none` stands for null. */
export function countColumn<Row>(
  title: string,
  count: (row: Row) => number | null,
  none = "–",
): Column<Row> {
  return { title, isNumber: true, cell: (row) => count(row)?.toLocaleString() ?? none };
}

interface FieldsTableProps extends Pick<DataTableProps<never>, "caption" | "isCaptionHidden"> {
  readonly fields: Fields;
}

/** A row as a table with one line per column. */
export function FieldsTable({ fields, ...named }: FieldsTableProps) {
  const rows = Object.entries(fields);
  return <DataTable {...named} isDense columns={FIELDS} rows={rows} keyOf={([name]) => name} />;
}

const FIELDS: readonly Column<[string, unknown]>[] = [
  { title: "Column", isHeader: true, cell: ([name]) => <bdi>{name}</bdi> },
  { title: "Value", cell: ([, value]) => <ValueText value={value} /> },
];

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const { cell, isNumber, isHeader } = column;
  const isMarked = column.isMarked?.(row) ?? false;
  const name = [isNumber && "number", isMarked && "is-different"].filter(Boolean).join(" ");
  const Tag = isHeader ? "th" : "td";
  return (
    <Tag scope={isHeader ? "row" : undefined} class={name || undefined}>
      {cell(row)}
      {isMarked && <span class="for-readers"> (differs)</span>}
    </Tag>
  );
}
