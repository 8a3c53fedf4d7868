import { useState } from "preact/hooks";
import type { Row } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { asRequestError } from "../../api/request-error.ts";
import { reloadShown } from "../../api/use-resource.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { FieldsTable } from "../../components/data-table.tsx";
import { CheckField } from "../../components/form.tsx";
import { EmptyState, Focused, Loaded, PageHead } from "../../components/notes.tsx";
import { type Fields, keyText, shortened } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";
import { leadOn, navigate, whileHere } from "../../state/router.ts";
import { RowConflict, type RowVersions, versionsOf } from "./row-conflict.tsx";
import { type ListedTable, RowForm } from "./row-form.tsx";

/** Below a table, in place of the key of a row. */
const NEW_ROW = "new";
export const IMPORT = "import";

export const ALL_TABLES = <a href="/console/tables">All tables</a>;

export function tableAddress(table: string): string {
  return `/console/tables/${encodeURIComponent(table)}`;
}

export function newRowAddress(table: string): string {
  return `${tableAddress(table)}/${NEW_ROW}`;
}

export function importAddress(table: string): string {
  return `${tableAddress(table)}/${IMPORT}`;
}

/** The page of a row, whose key is a part of its address. */
export function rowAddress({ table, upsert_key: names }: ListedTable, row: Fields): string {
  const key = Object.fromEntries(names.map((name) => [name, row[name]]));
  return `${tableAddress(table)}/${encodeURIComponent(JSON.stringify(key))}`;
}

interface RowPageProps {
  readonly listed: ListedTable;
  /** The key as JSON, or `new`. */
  readonly row: string;
}

/** One row of a table as a page: all of its values, and what can be done to it. D-14.5. */
export function RowPage({ listed, row }: RowPageProps) {
  const { table } = listed;
  return (
    <>
      <PageHead back={<AllRows table={table} />} shown={table} />
      {row === NEW_ROW ? <NewRow listed={listed} /> : <KnownRow listed={listed} row={row} />}
    </>
  );
}

/** The way back to a table. */
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
            <p>It was deleted, or its key was changed.</p>
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
  const key = Object.fromEntries(listed.upsert_key.map((name) => [name, row[name]]));
  const name = shortened(keyText(key), 80);

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
            // What was read stays, though the row is loaded again.
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
            <RowRemoval listed={listed} row={row} name={name} rowKey={key} />
          </div>
        </>
      )}
    </>
  );
}

interface RowRemovalProps extends RowCardProps {
  readonly name: string;
  readonly rowKey: Fields;
}

function RowRemoval({ listed, row, name, rowKey }: RowRemovalProps) {
  const [versions, setVersions] = useState<RowVersions | null>(null);
  const [force, setForce] = useState(false);
  const { table, direction, deletes } = listed;

  async function remove(expected: Fields, isForced: boolean) {
    const isHere = whileHere();
    const key = rowKey as Row;
    const body = { key, expected: expected as Row, force: isForced };
    try {
      const { warning = "" } = await request("post /api/v1/sync/rows/{table_name}/delete", {
        path: { table_name: table },
        body,
      });
      leadOn(isHere, `The row was deleted. ${warning}`, tableAddress(table));
    } catch (failure) {
      const error = asRequestError(failure);
      const found = versionsOf(error, { was: expected, mine: null });
      if (found === null) throw error;
      setVersions(found);
    }
  }

  if (versions !== null) {
    return (
      <RowConflict
        versions={versions}
        insistName="Delete it all the same"
        onInsist={() => remove(versions.now ?? {}, force)}
        onYield={async () => {
          await reloadShown();
          setVersions(null);
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
      onConfirm={(typed) => {
        const isForced = typed("-force") === "on";
        setForce(isForced);
        return remove(row, isForced);
      }}
    >
      {!deletes && <p>A row that the other end has comes back with the next run.</p>}
      {direction === "pull" && (
        <CheckField label="Force" name="-force" hint="The rows are written at the remote" />
      )}
    </ConfirmButton>
  );
}
