import { useRef, useState } from "preact/hooks";
import type { ListedTable } from "../../api/interface.ts";
import { asRequestError } from "../../api/request-error.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { CheckField, type Typed } from "../../components/form.tsx";
import { Focused } from "../../components/notes.tsx";
import { type Fields, isSame, ValueText } from "../../components/text.tsx";

interface RowWrite {
  /** The row as it was read; null for a new one. */
  readonly was: Fields | null;
  /** The row as it should become; null for a removal. */
  readonly mine: Fields | null;
}

/** A row that was changed meanwhile. */
interface RowVersions extends RowWrite {
  /** The row as it is; null when it is gone. */
  readonly now: Fields | null;
}

/** No column has this name. */
export const FORCE = "-force";

/** Shown for a table whose rows are written at the remote. */
export function ForceField({ direction }: Pick<ListedTable, "direction">) {
  if (direction !== "pull") return null;
  return <CheckField label="Force" name={FORCE} hint="The rows are written at the remote" />;
}

/**
 * Sends writes of a row, and keeps the versions when the row had changed. `onDone` gets the row of a write whose first reply was
 * lost; `given` are columns of a new row to which the service may give a value.
 */
export function useRowWrite(
  send: (write: RowWrite, isForced: boolean) => Promise<unknown>,
  onDone: (now: Fields) => unknown,
  given: readonly (string | null)[] = [],
) {
  const [versions, setVersions] = useState<RowVersions | null>(null);
  const isForced = useRef(false);

  /** `typed` comes from a form with a `ForceField`. The choice in it also holds for later writes. */
  async function write(intent: RowWrite, typed?: Typed) {
    if (typed !== undefined) isForced.current = typed(FORCE) === "on";
    try {
      await send(intent, isForced.current);
    } catch (failure) {
      const { row: now } = asRequestError(failure);
      if (now === undefined) throw failure;
      if (isDone(intent, now, given)) await onDone(now ?? {});
      else setVersions({ ...intent, now });
    }
  }

  return { versions, write, forget: () => setVersions(null) };
}

function isDone(
  { was, mine }: RowWrite,
  now: Fields | null,
  given: readonly (string | null)[],
): boolean {
  if (mine === null || now === null) return mine === now;
  // What was left out of a new row is null.
  const others = was === null ? Object.keys(now).filter((name) => !given.includes(name)) : [];
  return [...Object.keys(mine), ...others].every((name) => isSame(mine[name] ?? null, now[name]));
}

interface RowConflictProps {
  readonly versions: RowVersions;
  /** The button that overwrites the other version. */
  readonly insistName: string;
  readonly onInsist: () => Promise<unknown>;
  /** Leaves the row as it is now. */
  readonly onYield: () => unknown;
}

/** Shows the versions and asks which one stays. D-14.3. */
export function RowConflict({ versions, insistName, onInsist, onYield }: RowConflictProps) {
  const { was, now } = versions;
  const isMissing = was === null ? "There is such a row already" : "Somebody else has changed it";
  return (
    <Focused>
      <div class="card">
        <div class="note warning" role="alert">
          <p>
            <strong>{now === null ? "The row is gone meanwhile" : isMissing}</strong>
          </p>
          <p>Nothing was written yet.</p>
        </div>
        <DataTable
          caption="Both versions"
          isCaptionHidden
          isDense
          columns={columnsOf(versions)}
          rows={namesOf(versions)}
          keyOf={(name) => name}
        />
        <div class="actions">
          <ActionButton onPress={onYield}>
            {now === null ? "Leave it gone" : "Keep theirs"}
          </ActionButton>
          <ActionButton look="danger" onPress={onInsist}>
            {insistName}
          </ActionButton>
        </div>
      </div>
    </Focused>
  );
}

/** The versions to choose from come first, as a narrow screen shows little more. */
function columnsOf({ was, mine, now }: RowVersions): readonly Column<string>[] {
  // What was not changed here stays as it is now.
  const wanted: Fields = { ...was, ...(mine && now), ...mine };
  const versionOf = (title: string, row: Fields | null): Column<string> => {
    return { title, cell: (name) => <ValueText value={row?.[name]} /> };
  };
  return [
    { title: "Column", isHeader: true, cell: (name) => <bdi>{name}</bdi> },
    ...(mine === null ? [] : [versionOf("Yours", wanted)]),
    { ...versionOf("As it is now", now), isMarked: (name) => !isSame(now?.[name], wanted[name]) },
    ...(was === null ? [] : [versionOf("As you read it", was)]),
  ];
}

/** The columns that differ; all where none does. */
function namesOf({ was, mine, now }: RowVersions): readonly string[] {
  const names = [...new Set([was, mine, now].flatMap((row) => Object.keys(row ?? {})))];
  const differing = names.filter(
    (name) => !isSame(was?.[name], now?.[name]) || !isSame({ ...was, ...mine }[name], now?.[name]),
  );
  return differing.length === 0 ? names : differing;
}
