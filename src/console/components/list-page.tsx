// A list of the service as a page shows it: filters, a table, and its parts one after another. Each page describes its own.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Asked, List, Reply, RequestOptions } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { type Resource, useResource } from "../api/use-resource.ts";
import { queryValue, setQuery } from "../state/router.ts";
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

/** Operations that give a part of a list. */
type Lists = { [O in Asked]: Reply<O> extends List<infer _> ? O : never }[Asked];
type ItemOf<O extends Lists> = Reply<O>["items"][number];

/** A filter of a list. It stands in the address under its name, so that it survives a reload, and Back. */
export interface Filter {
  /** The name in the address, and in the query. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** A choice that holds at once; texts without one are sent by `Search`. */
  readonly options?: Options;
  readonly type?: "search" | "datetime-local";
  readonly hints?: InputHints;
  /** Turns typed text into that of the address, and back. */
  readonly toAddress?: (typed: string) => string;
  readonly fromAddress?: (value: string) => string;
}

/** The description of a list for its page. */
export interface ListDescription<O extends Lists> {
  readonly from: O;
  readonly caption: string;
  readonly isCaptionHidden?: boolean;
  readonly isDense?: boolean;
  /** Items of a part. */
  readonly limit: number;
  readonly pollMs?: number;
  readonly filters?: readonly Filter[];
  /** Filters that stand elsewhere on the page, as they are asked for. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** Loads a part in another way than by one request. */
  readonly read?: ReadList<O>;
  readonly columns: Columns<O>;
  readonly keyOf: (item: ItemOf<O>, position: number) => string | number;
  readonly empty: Nothing;
  /** Shown in place of `empty` while a filter is set. */
  readonly unmatched?: Nothing;
}

/** `show` takes what there is so far. */
type ReadList<O extends Lists> = (
  options: RequestOptions<O>,
  show: (soFar: Reply<O>) => void,
) => Promise<Reply<O>>;

type Columns<O extends Lists> =
  | readonly Column<ItemOf<O>>[]
  | ((items: readonly ItemOf<O>[]) => readonly Column<ItemOf<O>>[]);
/** The note that there is nothing, and what to do next. */
type Nothing = readonly [title: string, text: ComponentChildren];

interface ListPageProps<O extends Lists> {
  readonly list: ListDescription<O>;
  readonly path?: Readonly<Record<string, string>>;
  /** Stands between the filters and the table. */
  readonly tools?: (list: Resource<Reply<O>>) => ComponentChildren;
}

/** A list in parts, with its filters. The part that is shown stands in the address as `cursor`. */
export function ListPage<O extends Lists>({ list, path, tools }: ListPageProps<O>) {
  const filters = list.filters ?? [];
  const cursor = queryValue("cursor");
  const wanted = {
    ...Object.fromEntries(filters.map((filter) => [filter.name, filterValue(filter)])),
    ...list.query,
  };
  // The types of the operations tell which parameters and filters each list takes.
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

/** The way to the other parts of a list. */
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

/** Empty for all that a choice does not have, such as what somebody wrote into the address. */
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
  // The fields stay, and the focus in them.
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
