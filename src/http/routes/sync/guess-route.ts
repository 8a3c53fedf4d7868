// A table guessed from a file, for administrators, with sync disabled too. D-14.4.
import { Turns } from "../../../ports/runtime/turns.ts";
import { COLUMN_TYPE, importEntry } from "../../../usecases/sync/files/file-form.ts";
import {
  type FileGuess,
  guessFile,
  readWishes,
  requireTableName,
} from "../../../usecases/sync/files/guess-file.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { type Operation, operation } from "../../operation.ts";
import { json } from "../../replies.ts";
import { given, givenAll } from "../../schemas/parts.ts";
import { GuessSchema } from "../../schemas/tables.ts";
import { incoming } from "../../streams.ts";
import { ALL_TYPES, FORM_QUERY, flag, formatOf, readForm, readValue } from "./file-routes.ts";
import type { SyncAdministration } from "./run-replies.ts";

export function guessRoute({ identity, sync, files, activeRuns }: SyncAdministration): Operation {
  return operation({
    at: "POST /api/v1/sync/infer",
    id: "inferTable",
    summary: "Guess a table from a file",
    description:
      "As `repsync tables infer`, of the first 64 MiB, to the last whole record. Nothing is kept.",
    guard: syncAdministrator(identity),
    query: {
      name: given("Of the table"),
      key: given("Columns of the key, separated by commas"),
      timestamp: given("A column, or `none`"),
      type: givenAll("`column=type`"),
      number_rows: flag("Line n is row n"),
      ...FORM_QUERY,
    },
    body: { types: ALL_TYPES },
    replies: {
      200: json("The guess", GuessSchema),
      400: "A bad parameter, a body of another type, or one of which no table can be made",
    },
    isSlow: true,
    run: async ({ exchange: { request }, query }) => {
      const format = formatOf(request);
      const name = query.name ?? "";
      requireTableName(name, "Give name letters, digits and underscores");
      const numbered = query.numberRows === "true" ? { numberRows: true as const } : {};
      const form = { ...readForm(query), ...numbered };
      const entry = importEntry(form, format, (option) => option.replaceAll("-", "_"));
      const type = (query.type ?? []).map((text) => readValue("type", text, COLUMN_TYPE));
      const asked = { key: query.key || null, timestamp: query.timestamp || null, type };
      const wishes = readWishes(asked, entry);
      const bytes = incoming(request, sync.timer, activeRuns.stopping);
      const turns = new Turns(sync.clock, () => sync.timer.sleep(0));
      return guessItem(await guessFile(files, { name, format, bytes, wishes, turns }));
    },
  });
}

function guessItem(guess: FileGuess) {
  const { entry, keyReason, leftOut, unread, firstUnread } = guess;
  const names = leftOut.map((name) => JSON.stringify(name)).join(", ");
  return {
    table: guess.name,
    entry,
    columns: guess.columns.map(({ misfits, ...column }) => {
      const problems =
        misfits === null
          ? []
          : [`${misfits.count} of its values, the first ${misfits.text} in line ${misfits.line}`];
      return { ...column, problems };
    }),
    key: entry === null ? null : { columns: entry.upsert_key, reason: keyReason ?? "" },
    warnings: [
      ...guess.warnings,
      ...(leftOut.length === 0 ? [] : [`Left out, as no column can have the name: ${names}`]),
      ...(unread === 0 ? [] : [`Left out: ${unread} that cannot be read; ${firstUnread}`]),
      ...(entry === null ? ["No columns identify a row: name the key, or number the rows"] : []),
    ],
    records: guess.records,
  };
}
