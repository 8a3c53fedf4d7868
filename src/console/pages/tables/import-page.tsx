import { useState } from "preact/hooks";
import type { ListedTable } from "../../api/interface.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { ActionForm, CheckField, Field, type Typed } from "../../components/form.tsx";
import { Card, Focused, PageHead, ProgressBar } from "../../components/notes.tsx";
import { bytesText, counted, Sentence } from "../../components/text.tsx";
import { CancelRun } from "../runs/run-state.tsx";
import { FileFields, readChoice } from "./file-choice.tsx";
import { ImportOutcome } from "./import-outcome.tsx";
import { FORCE, ForceField } from "./row-conflict.tsx";
import { AllRows, tableAddress } from "./row-page.tsx";
import { type EndedImport, type FileImport, useImport, type WantedImport } from "./use-import.ts";

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
  if (error !== null || result === null || result.written + (result.removed ?? 0) === 0) {
    return null;
  }
  const { removed = 0 } = result;
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
