import { useState } from "preact/hooks";
import type { ListedTable } from "../../api/interface.ts";
import { ActionButton, ErrorNote } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ActionForm, CheckField, Field, type Typed } from "../../components/form.tsx";
import { Card, Facts, Focused, PageHead, ProgressBar } from "../../components/notes.tsx";
import { bytesText, counted, type Fields, Sentence, ValueText } from "../../components/text.tsx";
import { CancelRun } from "../runs/run-state.tsx";
import { FileFields, readChoice } from "./file-choice.tsx";
import { FORCE, ForceField } from "./row-conflict.tsx";
import { AllRows, tableAddress } from "./row-page.tsx";
import {
  type EndedImport,
  type FileImport,
  type ImportResult,
  useImport,
  type WantedImport,
} from "./use-import.ts";

/** Previews and imports a file into a table. D-14.5. */
export function ImportPage({ listed }: { readonly listed: ListedTable }) {
  const { table } = listed;
  const [file, setFile] = useState<File | null>(null);
  const work = useImport(table);
  return (
    <>
      <PageHead back={<AllRows table={table} />} shown={table}>
        Import a file into <bdi>{table}</bdi>
      </PageHead>
      <div class="card" hidden={work.state.kind === "running"}>
        <ActionForm
          name="Preview"
          onSubmit={async (typed) => {
            const options = optionsIn(typed);
            void work.start({ ...readChoice(file, typed), options }, true);
          }}
        >
          <FileFields
            file={file}
            onFile={setFile}
            otherwise="the registry says it, else a file is CSV with commas, in UTF-8"
            usualEncoding={formOf(listed).encoding}
          />
          <Options listed={listed} />
        </ActionForm>
      </div>
      <ImportWork table={table} work={work} />
    </>
  );
}

/** What the registry says about files of the table. */
function formOf({ entry }: ListedTable) {
  type Form = { readonly number_rows?: boolean; readonly encoding?: string };
  return (entry as { readonly import?: Form }).import ?? {};
}

function Options({ listed }: { readonly listed: ListedTable }) {
  const { direction, deletes } = listed;
  const [isWhole, setWhole] = useState(false);
  return (
    <div class="checks">
      <CheckField
        label="Lax"
        name="lax"
        hint="A value that its column's type does not understand is written as it came"
      />
      {formOf(listed).number_rows === true && (
        <CheckField
          label="Append"
          name="append"
          hint="Records are numbered on behind the last row"
        />
      )}
      <ForceField direction={direction} />
      {deletes && (
        <CheckField
          label="Whole"
          name="whole"
          hint="Then rows that the file does not have are removed"
          isChecked={isWhole}
          onChecked={setWhole}
        />
      )}
      {isWhole && (
        <Field
          label="Most rows to remove"
          name="max_deletes"
          hint="Empty: the limit of the table"
          type="number"
          hints={{ min: "0" }}
        />
      )}
    </div>
  );
}

function optionsIn(typed: Typed): WantedImport["options"] {
  const flag = (name: string) => (typed(name) === "on" ? "true" : "");
  return {
    ...{ lax: flag("lax"), append: flag("append"), force: flag(FORCE), whole: flag("whole") },
    max_deletes: typed("max_deletes"),
  };
}

/** The progress or the end of an import. */
export function ImportWork({ table, work }: { readonly table: string; readonly work: FileImport }) {
  const { state, start, abort } = work;
  if (state.kind === "idle") return null;
  const { wanted, isDryRun } = state;
  if (state.kind === "running") {
    const { sentBytes, runId, rows } = state;
    const { size } = wanted.file.content;
    const sent = `${bytesText(Math.min(sentBytes, size))} of ${bytesText(size)}`;
    return (
      <Focused key="running">
        <Card
          title={isDryRun ? "Looking through the file" : "Importing"}
          beside={
            runId === null ? (
              <ActionButton onPress={abort}>Cancel</ActionButton>
            ) : (
              <CancelRun runId={runId} />
            )
          }
        >
          <ProgressBar
            label={wanted.name}
            done={sentBytes}
            total={sentBytes < size ? size : null}
            text={rows === null ? sent : `${sent}, ${counted(rows, "record")} read`}
          />
        </Card>
      </Focused>
    );
  }
  return (
    <Focused key="ended">
      <Card title={<Sentence text={titleOf(state)} />}>
        <ImportOutcome ended={state} />
        <div class="actions">
          {isDryRun ? (
            <ImportButton table={table} ended={state} onImport={() => start(wanted, false)} />
          ) : (
            <a href={tableAddress(table)}>Show the rows</a>
          )}
        </div>
      </Card>
    </Focused>
  );
}

function titleOf({ isDryRun, wanted: { name }, error }: EndedImport): string {
  if (isDryRun) return `What the import of ${name} would do`;
  return error === null ? `${name} was imported` : `The import of ${name} ended early`;
}

interface ImportButtonProps {
  readonly table: string;
  readonly ended: EndedImport;
  readonly onImport: () => unknown;
}

/** Nothing after a preview that failed, or found nothing to do. Removing rows is confirmed. */
function ImportButton({ table, ended: { result, error }, onImport }: ImportButtonProps) {
  if (error !== null || result === null) return null;
  const { written, removed = 0 } = result;
  if (written + removed === 0) return null;
  if (removed === 0) {
    return (
      <ActionButton look="main" onPress={() => void onImport()}>
        Import
      </ActionButton>
    );
  }
  return (
    <ConfirmButton
      name="Import"
      look="danger"
      question={`Import, and remove ${counted(removed, "row")} of “${table}” that the file does not have?`}
      onConfirm={() => void onImport()}
    />
  );
}

/** Counts, refused records with reasons, and overwritten values of an import or a dry run. D-14.7. */
function ImportOutcome({ ended }: { readonly ended: EndedImport }) {
  const { result, error, isDryRun, wanted } = ended;
  return (
    <>
      <ErrorNote error={error} />
      {result !== null && (
        <>
          <Facts facts={countsOf(result, isDryRun)} />
          {result.read === 0 && error === null && <p>The file has no records.</p>}
          {problemTable("Records that fail", result.failed, result.failures)}
          {result.failed > 0 && <p>{isDryRun ? LEFT_OUT : mendText(wanted)}</p>}
          {problemTable("Warnings", result.warning_count, result.warnings)}
          <Changes result={result} />
        </>
      )}
    </>
  );
}

const LEFT_OUT = "Records that fail are left out; all others are written.";

function mendText({ options }: WantedImport): string {
  return options.append
    ? "Mend these records, and import them alone: the whole file would be added once more."
    : "Mend these records, and import the file again: what is there by now stays as it is.";
}

function countsOf(result: ImportResult, isDryRun: boolean) {
  const fact = (name: string, count: number) => [name, count.toLocaleString()] as const;
  const { deleted, removed } = result;
  return [
    fact("Read", result.read),
    fact("New", result.new),
    fact(isDryRun ? "To be overwritten" : "Overwritten", result.changed),
    fact("As they are", result.same),
    fact("Failed", result.failed),
    deleted === 0 ? null : fact("Deleted since", deleted),
    removed === undefined ? null : fact(isDryRun ? "To be removed" : "Removed", removed),
  ];
}

type Problem = ImportResult["warnings"][number] & { readonly key?: string | null };
type Place = Pick<Problem, "line" | "column" | "key">;

const SHOWN_PROBLEMS = 100;

function problemTable(name: string, total: number, list: readonly Problem[]) {
  if (list.length === 0) return null;
  const shown = list.slice(0, SHOWN_PROBLEMS);
  const part = list.length > shown.length ? `, the first ${SHOWN_PROBLEMS} are shown` : "";
  const hasKeys = list.some(({ key }) => key !== undefined && key !== null);
  return (
    <DataTable
      caption={`${name}: ${total.toLocaleString()}${part}`}
      isDense
      columns={[LINE, ...PROBLEM_COLUMNS, ...(hasKeys ? [KEY] : [])]}
      rows={shown}
      keyOf={(_, position) => position}
    />
  );
}

const LINE: Column<Place> = {
  ...{ title: "Line", isNumber: true, isHeader: true },
  // A remark about the whole file has no line.
  cell: ({ line, column, key }) =>
    column === null && key === undefined ? "file" : line.toLocaleString(),
};
const KEY: Column<Place> = {
  title: "Key",
  cell: ({ key }) => <ValueText value={key ?? undefined} />,
};
const COLUMN: Column<Place> = {
  title: "Column",
  cell: ({ column }) => <bdi class="unbroken">{column}</bdi>,
};
const PROBLEM_COLUMNS: readonly Column<Problem>[] = [
  { title: "Reason", cell: ({ message }) => <bdi>{message}</bdi> },
  COLUMN,
  { title: "Value", cell: ({ value }) => value !== null && <ValueText value={value} /> },
];

/** A value that would be overwritten. */
interface Change extends Place {
  readonly here: unknown;
  readonly record: unknown;
}

function Changes({ result: { changes = [], changed } }: { readonly result: ImportResult }) {
  if (changes.length === 0) return null;
  const rows = changes.flatMap(({ line, key, here, record }): Change[] => {
    const before: Fields = here ?? {};
    return Object.entries(record ?? {}).map(([column, value]) => {
      return { line, key, column, here: before[column], record: value };
    });
  });
  const part = changed > changes.length ? `, the first ${changes.length} of them` : "";
  return (
    <DataTable
      caption={`${counted(changed, "row")} to be overwritten${part}`}
      isDense
      columns={CHANGE_COLUMNS}
      rows={rows}
      keyOf={({ line, column }) => `${line} ${column}`}
    />
  );
}

const CHANGE_COLUMNS: readonly Column<Change>[] = [
  ...[LINE, KEY, COLUMN],
  { title: "As it is", cell: ({ here }) => <ValueText value={here} /> },
  {
    title: "As in the file",
    cell: ({ record }) => <ValueText value={record} />,
    isMarked: () => true,
  },
];
