// A list of the service: filters, a table, and its parts one after another.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { List, Reply, ReplyOperation, RequestOptions } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { queryValue, setQuery } from "../state/router.ts";
import { type Resource, useResource } from "../state/use-service.ts";
import { ActionButton } from "./buttons.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import {
  ActionForm,
  Field,
  type InputHints,
  type Options,
  optionOf,
  SelectField,
} from "./form.tsx";
import { EmptyState, ResourceView } from "./notes.tsx";

type ListOperation = {
  [O in ReplyOperation]: Reply<O> extends List<infer _> ? O : never;
}[ReplyOperation];
type ItemOf<O extends ListOperation> = Reply<O>["items"][number];

/** A filter, which is kept in the address under its name. */
export interface Filter {
  /** The name in the address and in the query. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** A choice takes effect at once; texts without one are sent by `Search`. */
  readonly options?: Options;
  readonly type?: "search" | "datetime-local";
  readonly hints?: InputHints;
  /** Converts typed text for the address, and back. */
  readonly toAddress?: (typed: string) => string;
  readonly fromAddress?: (value: string) => string;
}

export interface ListDescription<O extends ListOperation> {
  readonly from: O;
  readonly caption: string;
  readonly isCaptionHidden?: boolean;
  readonly isDense?: boolean;
  /** Items of a part. */
  readonly limit: number;
  readonly pollMs?: number;
  readonly filters?: readonly Filter[];
  /** Parameters that other controls on the page keep in the address. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** In place of one request. */
  readonly read?: ReadList<O>;
  readonly columns: Columns<O>;
  readonly keyOf: (item: ItemOf<O>, position: number) => string | number;
  readonly empty: EmptyText;
  /** In place of `empty` while a filter is set. */
  readonly unmatched?: EmptyText;
}

/** `show` shows the items so far. */
type ReadList<O extends ListOperation> = (
  options: RequestOptions<O>,
  show: (soFar: Reply<O>) => void,
) => Promise<Reply<O>>;

type Columns<O extends ListOperation> =
  | readonly Column<ItemOf<O>>[]
  | ((items: readonly ItemOf<O>[]) => readonly Column<ItemOf<O>>[]);
/** Says that there is nothing, and what to do next. */
type EmptyText = readonly [title: string, text: ComponentChildren];

interface ListPageProps<O extends ListOperation> {
  readonly list: ListDescription<O>;
  readonly path?: Readonly<Record<string, string>>;
  /** Between the filters and the table. */
  readonly tools?: (list: Resource<Reply<O>>) => ComponentChildren;
}

/** A list with its filters. The address has the shown part as `cursor`. */
export function ListPage<O extends ListOperation>({ list, path, tools }: ListPageProps<O>) {
  const filters = list.filters ?? [];
  const cursor = queryValue("cursor");
  const wanted = {
    ...Object.fromEntries(filters.map((filter) => [filter.name, filterValue(filter)])),
    ...list.query,
  };
  // The operation's type knows which parameters and filters the list takes.
  const query = { ...wanted, cursor, limit: list.limit };
  const options = { path, query } as unknown as RequestOptions<O>;
  const read: ReadList<O> = list.read ?? ((asked) => request(list.from, { ...asked }));
  const resource = useResource<Reply<O>>((signal, show) => read({ ...options, signal }, show), {
    key: JSON.stringify(options),
    pollMs: list.pollMs ?? null,
  });
  const isFiltered = Object.values(wanted).some((value) => value.length > 0);
  const [title, text] = (isFiltered ? list.unmatched : undefined) ?? list.empty;
  const empty =
    cursor === "" ? (
      <EmptyState title={title}>{text}</EmptyState>
    ) : (
      <EmptyState title="There is nothing on this page" />
    );

  return (
    <>
      <Choices filters={filters.filter(({ options }) => options !== undefined)} />
      <Search filters={filters.filter(({ options }) => options === undefined)} />
      {tools?.(resource)}
      <ResourceView resource={resource} name={list.caption.toLowerCase()}>
        {({ items }) => (
          <DataTable
            {...list}
            columns={typeof list.columns === "function" ? list.columns(items) : list.columns}
            rows={items}
            isStale={resource.isStale}
            empty={resource.isLoading ? undefined : empty}
          />
        )}
      </ResourceView>
      <OtherParts cursor={cursor} next={resource.data?.next_cursor ?? ""} />
    </>
  );
}

function OtherParts({ cursor, next }: { readonly cursor: string; readonly next: string }) {
  const buttons = useRef<HTMLDivElement>(null);

  function show(wanted: string) {
    setQuery({ cursor: wanted });
    const rows = buttons.current?.previousElementSibling as HTMLElement | null;
    rows?.focus({ preventScroll: true });
    rows?.scrollIntoView({ block: "start" });
  }

  if (cursor === "" && next === "") return null;
  return (
    <div ref={buttons} class="actions">
      <ActionButton isDisabled={cursor === ""} onPress={() => show("")}>
        First
      </ActionButton>
      <ActionButton isDisabled={next === ""} onPress={() => show(next)}>
        Next
      </ActionButton>
    </div>
  );
}

/** Empty for a value that the choice does not offer, such as one typed into the address. */
function filterValue({ name, options }: Filter): string {
  const value = queryValue(name);
  const isOffered = options?.some((option) => optionOf(option)[0] === value) ?? true;
  return isOffered ? value : "";
}

function Choices({ filters }: { readonly filters: readonly Filter[] }) {
  if (filters.length === 0) return null;
  return (
    <div class="form-row">
      {filters.map((filter) => (
        <SelectField
          key={filter.name}
          label={filter.label}
          options={filter.options ?? []}
          value={filterValue(filter)}
          onValue={(value) => setQuery({ [filter.name]: value, cursor: "" })}
        />
      ))}
    </div>
  );
}

/** Shows what the address says, and changes it. */
function Search({ filters }: { readonly filters: readonly Filter[] }) {
  const frame = useRef<HTMLElement>(null);
  // Resetting keeps the fields and the focus.
  useEffect(
    () => frame.current?.querySelector("form")?.reset(),
    [filters.map(filterValue).join("\n")],
  );
  if (filters.length === 0) return null;
  return (
    <search ref={frame}>
      <ActionForm
        name="Search"
        isRow
        onSubmit={async (typed) => {
          const values = filters.map(({ name, toAddress }) => {
            const text = typed(name);
            return [name, toAddress?.(text) ?? text];
          });
          setQuery({ ...Object.fromEntries(values), cursor: "" });
        }}
      >
        {filters.map(({ name, label, fromAddress, toAddress, options, ...rest }) => (
          <Field
            key={name}
            {...rest}
            label={label}
            name={name}
            value={fromAddress?.(queryValue(name)) ?? queryValue(name)}
          />
        ))}
      </ActionForm>
    </search>
  );
}
