import { useState } from "preact/hooks";
import { COLUMN_TYPES } from "../../../domain/sync/table/column-types.ts";
import type { TableGuess } from "../../api/interface.ts";
import { RequestError, refusal } from "../../api/request-error.ts";
import { ActionButton, CopyButton, ErrorNote } from "../../components/buttons.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ActionForm, Field, NAME_HINTS, SelectField } from "../../components/form.tsx";
import { Card, Focused } from "../../components/notes.tsx";
import { counted } from "../../components/text.tsx";

/** The user's choices in place of guesses. */
export interface GuessWishes {
  /** Null for the guess. */
  readonly key: readonly string[] | null;
  /** A column, `none`, or empty for the guess. */
  readonly time: string;
  /** Types by column. */
  readonly types: Readonly<Record<string, string>>;
}

export const NO_WISHES: GuessWishes = { key: null, time: "", types: {} };

type GuessedColumn = TableGuess["columns"][number];

interface GuessFormProps {
  readonly guess: TableGuess;
  readonly wishes: GuessWishes;
  readonly isNumbered: boolean;
  /** The name for the table, kept over other guesses of its file. */
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onGuess: (wishes: GuessWishes) => Promise<unknown>;
  readonly onMake: (entry: object) => Promise<unknown>;
}

/** A guess with its reasons and choices, and the entry that is made of it. */
export function GuessForm({ guess, wishes, isNumbered, onGuess, ...table }: GuessFormProps) {
  const [wanted, setWanted] = useState(wishes);
  const wish = (more: Partial<GuessWishes>) => setWanted({ ...wanted, ...more });
  return (
    <Focused>
      <Card title={`A guess from ${counted(guess.records, "record")}`}>
        <Warnings guess={guess} />
        <p>
          Key: <bdi>{guess.key === null ? "none yet" : guess.key.columns.join(", ")}</bdi>
          {guess.key !== null && guess.key.reason !== "" && (
            <span class="quiet">
              {" "}
              (<bdi>{guess.key.reason}</bdi>)
            </span>
          )}
        </p>
        <DataTable
          caption="Columns"
          isDense
          columns={columnsOf(guess, { wanted, isNumbered, wish })}
          rows={guess.columns}
          keyOf={({ name }) => name}
        />
        <SelectField
          label="Time of change"
          hint="By which runs know what is new"
          value={wanted.time}
          onValue={(time) => wish({ time })}
          options={[
            ["", wishes.time === "" ? timeText(guess) : "as it is guessed"],
            ...guess.columns.map(({ name }) => name),
            "none",
          ]}
        />
        {wanted !== wishes ? (
          <div class="actions">
            <ActionButton look="main" onPress={() => onGuess(wanted)}>
              Guess again
            </ActionButton>
          </div>
        ) : (
          guess.entry !== null && <EntryForm entry={guess.entry} {...table} />
        )}
      </Card>
    </Focused>
  );
}

function Warnings({ guess: { warnings, columns } }: { readonly guess: TableGuess }) {
  const problems = columns.flatMap(({ name, problems }) =>
    problems.map((problem) => `${name}: an import fails ${problem}`),
  );
  const all = [...problems, ...warnings];
  if (all.length === 0) return null;
  return (
    <div class="note warning">
      {all.map((warning) => (
        <p key={warning}>
          <bdi>{warning}</bdi>
        </p>
      ))}
    </div>
  );
}

interface Entry {
  readonly timestamp_column?: string | null;
  readonly stamped?: boolean;
}

function timeText({ entry }: TableGuess): string {
  const { timestamp_column: time, stamped } = (entry ?? {}) as Entry;
  if (!time) return "as guessed: none";
  return stamped ? `as guessed: ${time}, which repsync keeps` : `as guessed: ${time}`;
}

interface Wishing {
  readonly wanted: GuessWishes;
  readonly isNumbered: boolean;
  readonly wish: (more: Partial<GuessWishes>) => void;
}

function columnsOf(
  guess: TableGuess,
  { wanted: { key: wantedKey, types }, isNumbered, wish }: Wishing,
): readonly Column<GuessedColumn>[] {
  const key = wantedKey ?? guess.key?.columns ?? [];
  return [
    { title: "Column", isHeader: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      title: "Type",
      cell: ({ name, type }) => (
        <select
          aria-label={`Type of ${name}`}
          value={types[name] ?? type}
          onChange={({ currentTarget }) =>
            wish({ types: { ...types, [name]: currentTarget.value } })
          }
        >
          {COLUMN_TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ),
    },
    {
      title: "Key",
      cell: ({ name }) => (
        <input
          type="checkbox"
          aria-label={`Key has ${name}`}
          checked={key.includes(name)}
          disabled={isNumbered}
          onChange={({ currentTarget: { checked } }) =>
            wish({ key: checked ? [...key, name] : key.filter((one) => one !== name) })
          }
        />
      ),
    },
    { title: "Why", cell: ({ reason }) => <bdi>{reason}</bdi> },
  ];
}

interface EntryFormProps extends Pick<GuessFormProps, "name" | "onName" | "onMake"> {
  readonly entry: object;
}

/** The entry for the registry and its name, both editable. */
function EntryForm({ entry, name, onName, onMake }: EntryFormProps) {
  const [pasted, setPasted] = useState<RequestError | null>(null);
  if (pasted !== null) return <PasteByHand error={pasted} />;
  return (
    <ActionForm
      name="Make table and import"
      onSubmit={async (typed) => {
        const changed = readEntry(typed("entry"));
        try {
          await onMake(changed);
        } catch (failure) {
          if (!(failure instanceof RequestError) || failure.text === "") throw failure;
          setPasted(failure);
        }
      }}
    >
      <Field
        label="Table"
        name="name"
        value={name}
        onTyped={onName}
        isRequired
        hint="Letters, digits and underscores"
        hints={{ ...NAME_HINTS, maxLength: 63 }}
      />
      <details>
        <summary>As the registry has it</summary>
        <Field
          label="Entry"
          name="entry"
          value={JSON.stringify(entry, null, 2)}
          isLong
          hints={NAME_HINTS}
        />
      </details>
    </ActionForm>
  );
}

function readEntry(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw refusal("entry", `is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

/** Shown when the service cannot write its registry file. */
function PasteByHand({ error }: { readonly error: RequestError }) {
  return (
    <>
      <ErrorNote error={error} />
      <p>
        Paste this into the registry file. The table is there within 5 seconds: import the file on
        its page.
      </p>
      <pre class="code-line">
        <code>{error.text}</code>
      </pre>
      <div class="actions">
        <CopyButton text={error.text} of="the entry" />
      </div>
    </>
  );
}
