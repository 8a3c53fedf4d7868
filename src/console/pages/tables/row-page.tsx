import { useState } from "preact/hooks";
import type { ListedTable, Row } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { FieldsTable } from "../../components/data-table.tsx";
import { EmptyState, Focused, Loaded, PageHead } from "../../components/notes.tsx";
import { type Fields, keyText, shortened } from "../../components/text.tsx";
import { leadOn, say } from "../../state/page-visit.ts";
import { navigate, whileHere } from "../../state/router.ts";
import { reloadShown } from "../../state/use-service.ts";
import { ForceField, RowConflict, useRowWrite } from "./row-conflict.tsx";
import { RowForm } from "./row-form.tsx";

/** In place of a row's key, below a table. */
export const NEW_ROW = "new";
export const IMPORT = "import";

export const ALL_TABLES = <a href="/console/tables">All tables</a>;

/** The page of a table, or one below it. */
export function tableAddress(...names: readonly string[]): string {
  return ["/console/tables", ...names.map(encodeURIComponent)].join("/");
}

/** The page of a row, whose key is in the address. */
export function rowAddress(listed: ListedTable, row: Fields): string {
  return tableAddress(listed.table, JSON.stringify(keyOf(listed, row)));
}

function keyOf({ upsert_key: names }: ListedTable, row: Fields): Fields {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

interface RowPageProps {
  readonly listed: ListedTable;
  /** The key as JSON, or `new`. */
  readonly row: string;
}

/** A row with all its values and actions. D-14.5. */
export function RowPage({ listed, row }: RowPageProps) {
  const { table } = listed;
  return (
    <>
      <PageHead back={<AllRows table={table} />} shown={table} />
      {row === NEW_ROW ? <NewRow listed={listed} /> : <KnownRow listed={listed} row={row} />}
    </>
  );
}

export function AllRows({ table }: { readonly table: string }) {
  return (
    <a href={tableAddress(table)}>
      All rows of <bdi>{table}</bdi>
    </a>
  );
}

function NewRow({ listed }: { readonly listed: ListedTable }) {
  const isHere = whileHere();
  return (
    <>
      <h2>
        A row of <bdi>{listed.table}</bdi>
      </h2>
      <RowForm
        listed={listed}
        row={null}
        onSaved={(saved) => {
          leadOn(isHere, "The row was added", rowAddress(listed, saved));
        }}
        onLeft={(there) =>
          navigate(there === null ? tableAddress(listed.table) : rowAddress(listed, there))
        }
      />
    </>
  );
}

function KnownRow({ listed, row: key }: RowPageProps) {
  return (
    <Loaded
      from="get /api/v1/sync/rows/{table_name}"
      options={{ path: { table_name: listed.table }, query: { key } }}
      name="the row"
    >
      {({ items: [row] }) =>
        row === undefined ? (
          <EmptyState title="There is no such row">
            It was deleted, or its key was changed.
          </EmptyState>
        ) : (
          <RowCard listed={listed} row={row} />
        )
      }
    </Loaded>
  );
}

interface RowCardProps {
  readonly listed: ListedTable;
  readonly row: Fields;
}

function RowCard({ listed, row }: RowCardProps) {
  const [isEdited, setEdited] = useState(false);
  const name = shortened(keyText(keyOf(listed, row)), 80);

  async function show(text: string) {
    if (text !== "") say(text);
    await reloadShown();
    setEdited(false);
  }

  return (
    <>
      <h2>
        <bdi>{name}</bdi>
      </h2>
      {isEdited ? (
        <Focused>
          <RowForm
            // A form keeps the values it began with, so a row with other values gets a new form.
            key={JSON.stringify(row)}
            listed={listed}
            row={row}
            onSaved={() => show("The row was saved")}
            onLeft={() => show("")}
          />
        </Focused>
      ) : (
        <>
          <FieldsTable caption={`Row ${name}`} isCaptionHidden fields={row} />
          <div class="actions">
            <ActionButton look="main" onPress={() => setEdited(true)}>
              Edit
            </ActionButton>
            <RowRemoval listed={listed} row={row} name={name} />
          </div>
        </>
      )}
    </>
  );
}

function RowRemoval({ listed, row, name }: RowCardProps & { readonly name: string }) {
  const { table, direction, deletes } = listed;
  const isHere = whileHere();
  const leave = (warning = "") =>
    leadOn(isHere, `The row was deleted. ${warning}`, tableAddress(table));
  const { versions, write, forget } = useRowWrite(
    async ({ was }, force) => {
      const path = { table_name: table };
      const body = { key: keyOf(listed, row) as Row, expected: was as Row, force };
      const reply = await request("post /api/v1/sync/rows/{table_name}/delete", { path, body });
      leave(reply.warning);
    },
    () => leave(),
  );

  if (versions !== null) {
    return (
      <RowConflict
        versions={versions}
        insistName="Delete it all the same"
        onInsist={() => write({ was: versions.now, mine: null })}
        onYield={async () => {
          await reloadShown();
          forget();
        }}
      />
    );
  }
  return (
    <ConfirmButton
      name="Delete"
      of={name}
      look="danger"
      question={`Delete the row ${name} of “${table}”?`}
      onConfirm={(typed) => write({ was: row, mine: null }, typed)}
    >
      {!deletes && <p>A row that the other end has comes back with the next run.</p>}
      <ForceField direction={direction} />
    </ConfirmButton>
  );
}
