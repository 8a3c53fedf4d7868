import { useRef } from "preact/hooks";
import type { Resource } from "../api/use-resource.ts";
import { queryValue, setQuery } from "../state/router.ts";
import { ActionButton } from "./action-button.tsx";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { EmptyState } from "./empty-state.tsx";
import { ResourceView } from "./resource-view.tsx";

/** A part of a list, as the service gives it. */
interface ListPart<Row> {
  readonly items: readonly Row[];
  readonly next_cursor: string | null;
}

interface ListViewProps<Row> extends Omit<DataTableProps<Row>, "rows" | "isLoading"> {
  /** Loads the part that `queryValue("cursor")` names. */
  readonly resource: Resource<ListPart<Row>>;
}

/** A list in parts. The part that is shown stands in the address as `cursor`, so that it survives a reload, and Back. */
export function ListView<Row>({ resource, ...table }: ListViewProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const next = resource.data?.next_cursor ?? "";
  const isFirst = queryValue("cursor") === "";

  function show(cursor: string) {
    setQuery({ cursor });
    const rows = frame.current?.querySelector<HTMLElement>(".table-frame");
    rows?.focus({ preventScroll: true });
    rows?.scrollIntoView({ block: "start" });
  }

  return (
    <div ref={frame}>
      <ResourceView resource={resource} name={table.caption.toLowerCase()}>
        {({ items }) => (
          <DataTable
            {...table}
            rows={items}
            isLoading={resource.isLoading}
            empty={isFirst ? table.empty : <EmptyState title="There is nothing on this page" />}
          />
        )}
      </ResourceView>
      {(!isFirst || next !== "") && (
        <div class="pager">
          <ActionButton isDisabled={isFirst} onPress={() => show("")}>
            First
          </ActionButton>
          <ActionButton isDisabled={next === ""} onPress={() => show(next)}>
            Next
          </ActionButton>
        </div>
      )}
    </div>
  );
}
