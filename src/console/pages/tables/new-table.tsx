import { useEffect, useState } from "preact/hooks";
import { MAX_GUESS_BYTES } from "../../../domain/shared/limits.ts";
import type { TableGuess } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { asRequestError } from "../../api/request-error.ts";
import { ActionForm, CheckField } from "../../components/form.tsx";
import { PageHead } from "../../components/notes.tsx";
import { type FileChoice, FileFields, readChoice } from "./file-choice.tsx";
import { GuessForm, type GuessWishes, NO_WISHES } from "./guess-form.tsx";
import { ImportWork } from "./import-page.tsx";
import { ALL_TABLES } from "./row-page.tsx";
import { useImport } from "./use-import.ts";

/** Stands in the address in place of a table's name. Names of tables have no hyphen. */
export const FROM_FILE = "from-file";
export const FROM_FILE_ADDRESS = `/console/tables/${FROM_FILE}`;

/** The service reads one byte less; the last one tells it that there is more. */
const GUESSED_BYTES = MAX_GUESS_BYTES + 1;

interface Guessed {
  readonly choice: FileChoice;
  readonly numberRows: string;
  readonly guess: TableGuess;
  readonly wishes: GuessWishes;
}

/** Makes a table of a file: guess, changes, import. D-14.5. */
export function NewTable() {
  const [file, setFile] = useState<File | null>(null);
  const [guessed, setGuessed] = useState<Guessed | null>(null);
  const [name, setName] = useState("");
  const [made, setMade] = useState("");

  async function guess(choice: FileChoice, numberRows: string, wishes: GuessWishes) {
    const content = choice.file.content.slice(0, GUESSED_BYTES);
    const { key, time, types } = wishes;
    const found = await request("post /api/v1/sync/infer", {
      query: {
        ...choice.form,
        name: nameOf(choice.name),
        number_rows: numberRows,
        key: key?.join(",") ?? "",
        timestamp: time,
        type: Object.entries(types).map(([name, type]) => `${name}=${type}`),
      },
      file: { ...choice.file, content },
    });
    if (found.table !== guessed?.guess.table) setName(found.table);
    setGuessed({ choice, numberRows, guess: found, wishes });
  }

  async function make(entry: object) {
    const body = { entry: entry as Readonly<Record<string, never>> };
    try {
      await request("put /api/v1/sync/tables/{name}", { path: { name }, body });
    } catch (failure) {
      const error = asRequestError(failure);
      throw error.status === 409 ? error.at("name") : error;
    }
    setMade(name);
  }

  if (guessed !== null && made !== "") return <FirstImport table={made} choice={guessed.choice} />;
  return (
    <>
      <PageHead back={ALL_TABLES} shown="from a file">
        A table from a file
      </PageHead>
      <div class="card">
        <ActionForm
          name="Guess"
          onSubmit={(typed) => {
            const choice = readChoice(file, typed);
            const numberRows = typed("number_rows") === "on" ? "true" : "";
            return guess(choice, numberRows, NO_WISHES);
          }}
        >
          <FileFields file={file} onFile={setFile} otherwise="it is found out" />
          <CheckField
            label="Number the rows"
            name="number_rows"
            hint="For a file in which nothing identifies a row: its lines do"
          />
        </ActionForm>
      </div>
      {guessed !== null && (
        <GuessForm
          key={JSON.stringify(guessed)}
          guess={guessed.guess}
          wishes={guessed.wishes}
          isNumbered={guessed.numberRows !== ""}
          name={name}
          onName={setName}
          onGuess={(wishes) => guess(guessed.choice, guessed.numberRows, wishes)}
          onMake={make}
        />
      )}
    </>
  );
}

/** `Price list.csv` becomes `price_list`. */
function nameOf(fileName: string): string {
  const words = fileName.replace(/(?:\.[a-z]+)+$/i, "").normalize("NFKD");
  const name = words
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  return `${/^\d/.test(name) ? "_" : ""}${name.toLowerCase()}`.slice(0, 63) || "table";
}

/** Imports the file into its new table. */
function FirstImport({ table, choice }: { readonly table: string; readonly choice: FileChoice }) {
  const work = useImport(table);
  useEffect(() => void work.start({ ...choice, options: {} }, false), []);
  return (
    <>
      <PageHead back={ALL_TABLES} shown={table}>
        <bdi>{table}</bdi>
      </PageHead>
      <p>The table was made.</p>
      <ImportWork table={table} work={work} />
    </>
  );
}
