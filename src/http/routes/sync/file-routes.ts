// Tables as files, for administrators, with sync disabled too. D-14.4.
import { AppError } from "../../../domain/shared/errors.ts";
import { ENCODINGS } from "../../../domain/shared/text.ts";
import { parseSince } from "../../../domain/shared/time.ts";
import { wireName } from "../../../domain/shared/wire-names.ts";
import type { GuessWishes } from "../../../domain/sync/guess/table-guess.ts";
import { COLUMN_TYPES, type ColumnType } from "../../../domain/sync/table/column-types.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { FILE_FORMATS, type FileFormat, startingWith } from "../../../ports/files.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import { exportFile } from "../../../usecases/sync/files/export-rows.ts";
import {
  DATE_FORMAT,
  DECIMAL,
  DELIMITER,
  ENCODING,
  type FormOptions,
  type FormReader,
  importEntry,
} from "../../../usecases/sync/files/file-form.ts";
import {
  type FileGuess,
  guessFile,
  readColumnType,
  requireTableName,
} from "../../../usecases/sync/files/guess-file.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { mediaType } from "../../guards/browser.ts";
import { type Operation, operation } from "../../operation.ts";
import { file, json, type SentFile } from "../../replies.ts";
import { given, givenAll, givenTime, tableName } from "../../schemas/parts.ts";
import { ImportEventSchema } from "../../schemas/run-events.ts";
import { GuessSchema } from "../../schemas/sync.ts";
import { incoming } from "../../streams.ts";
import {
  newsReply,
  STREAM_FAILURES,
  STREAM_TEXT,
  type SyncAdministration,
  tell,
} from "./run-replies.ts";

const TYPES: Readonly<Record<FileFormat, string>> = {
  csv: "text/csv",
  json: "application/json",
  ndjson: "application/x-ndjson",
};
const ALL_TYPES = Object.values(TYPES);

function flag(description: string) {
  return given(description, { enum: ["true", "false"], default: "false" });
}

/** Throws `invalid_request` for any word but `true` and `false`. */
function isSet(name: string, text: string | null): boolean {
  if (text !== null && text !== "" && text !== "true" && text !== "false") {
    throw new AppError("invalid_request", `${name} must be true or false`);
  }
  return text === "true";
}

export function fileRoutes(deps: SyncAdministration): Operation[] {
  return [exporting(deps), importing(deps), guessing(deps)];
}

function exporting({ identity, sync, files }: SyncAdministration): Operation {
  return operation({
    at: "GET /api/v1/sync/export/:table_name",
    id: "exportTable",
    summary: "Download the rows of a table as a file",
    description:
      "Each row once, in the order of the key, as `repsync export` writes them. Whoever takes nothing for a minute is cut off.",
    guard: syncAdministrator(identity, ALL_TYPES),
    params: { table_name: tableName(sync) },
    query: {
      format: given("Of the file", { enum: FILE_FORMATS, default: "csv" }),
      since: givenTime("Only rows whose timestamp is at or after this time"),
      spreadsheet: flag("CSV only: `'` comes before fields that a spreadsheet would run"),
    },
    replies: {
      200: file("The file", ALL_TYPES),
      400: "Unknown table, a bad format, since or spreadsheet, or a character that the table's encoding lacks",
    },
    isSlow: true,
    run: async ({ caller: { requireStill, ...by }, params, query }) => {
      const table = findTable(sync.registry, params.tableName);
      const format = readFormat(query.format || "csv");
      const isForSpreadsheet = isSet("spreadsheet", query.spreadsheet);
      if (isForSpreadsheet && format !== "csv") {
        throw new AppError("invalid_request", "spreadsheet is for CSV files");
      }
      const counts = { rows: 0 };
      const onRows = async (rows: number) => {
        await requireStill();
        counts.rows += rows;
      };
      const sinceTime = readSince(query.since);
      const job = { table, format, isForSpreadsheet, sinceTime, onRows };
      const { encoding } = table.files;
      const charset = format !== "csv" || encoding === null ? "" : `; charset=${encoding}`;
      const reading = exportFile({ tables: sync.tables, files }, job)[Symbol.asyncIterator]();
      // A failure before the first part is a reply of its own.
      const first = await reading.next();
      async function* parts() {
        try {
          yield* startingWith(first.done === true ? [] : [first.value], reading);
        } catch (error) {
          sync.logger.warn("An export was cut off", { table: table.name, error: String(error) });
          throw error;
        } finally {
          await identity.administration
            .noteFileAct({ ...by, action: "rows.exported", table: table.name, counts })
            .catch((error: unknown) => sync.logger.error("An export was not noted", error));
        }
      }
      return {
        type: `${TYPES[format]}${charset}`,
        name: `${table.name}.${format}`,
        parts: parts(),
      } satisfies SentFile;
    },
  });
}

function readFormat(text: string): FileFormat {
  const format = FILE_FORMATS.find((name) => name === text);
  if (format !== undefined) return format;
  throw new AppError("invalid_request", `format must be one of ${FILE_FORMATS.join(", ")}`);
}

function readSince(text: string | null): string | null {
  if (text === null || text === "") return null;
  const time = parseSince(text);
  if (time === null) throw new AppError("invalid_request", "since must be a date and time");
  return time;
}

const FORM_QUERY = {
  path: given("JSON: names to the array within the document, separated by points"),
  encoding: given("Of the text; a byte order mark goes before it", { enum: ENCODINGS }),
  delimiter: given("CSV: one character, or `tab`"),
  decimal: given("CSV: decimal sign of its numbers", { enum: [",", "."] }),
  date_format: given("CSV: such as DD.MM.YYYY"),
};

function importing({ identity, sync, files, activeRuns }: SyncAdministration): Operation {
  return operation({
    at: "POST /api/v1/sync/import/:table_name",
    id: "importTable",
    summary: "Write the records of a file into a table",
    description:
      "As `repsync import`, of any length, gzip or not. An import ends before its next batch when the session is ended or the " +
      `account suspended, and when no byte comes for a minute; what was written stays. ${STREAM_TEXT}`,
    guard: syncAdministrator(identity, ALL_TYPES),
    params: { table_name: tableName(sync) },
    query: {
      dry_run: flag("Write nothing"),
      lax: flag("Write what a column's type does not understand as it came"),
      force: flag("Also into a table whose rows the remote owns"),
      append: flag("Number on behind the last row"),
      restore: flag("Bring back rows of a stamped table that were deleted"),
      whole: flag("Then remove the rows that the file does not have, unless a record failed"),
      max_deletes: given("Rows that `whole` may remove, instead of the limit of the table", {
        type: "integer",
        minimum: 0,
      }),
      ...FORM_QUERY,
    },
    body: { types: ALL_TYPES },
    replies: {
      ...STREAM_FAILURES,
      200: newsReply("The events; a failure is among them", ImportEventSchema),
      400: "Unknown table, a bad parameter, or a body of another type",
      409: "The rows are written at the remote",
    },
    isSlow: true,
    run: ({ exchange: { request }, caller, params, query }) => {
      const { requireStill, ...by } = caller;
      const format = formatOf(request);
      const isAppending = isSet("append", query.append);
      const whole = isSet("whole", query.whole)
        ? { maxDeletes: readMaxDeletes(query.maxDeletes) }
        : null;
      if (isAppending && whole !== null) {
        throw new AppError("invalid_request", "append adds to a table, whole replaces it");
      }
      const { tableName: name } = params;
      const started = activeRuns.import(files, {
        tableName: name,
        format,
        form: readForm(query),
        isDryRun: isSet("dry_run", query.dryRun),
        isLax: isSet("lax", query.lax),
        isForced: isSet("force", query.force),
        isAppending,
        whole,
        restores: isSet("restore", query.restore),
        open: (stop) => incoming(request, sync.timer, stop),
        requireStill,
        note: (counts) =>
          identity.administration.noteFileAct({
            ...by,
            action: "rows.imported",
            table: name,
            counts,
          }),
      });
      return tell(started.news(), started.runId);
    },
  });
}

function readMaxDeletes(text: string | null): number | null {
  if (text === null || text === "") return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AppError("invalid_request", "max_deletes must be a whole number, 0 or more");
}

function guessing({ identity, sync, files, activeRuns }: SyncAdministration): Operation {
  return operation({
    at: "POST /api/v1/sync/infer",
    id: "inferTable",
    summary: "Guess a table from a file",
    description:
      "As `repsync tables infer`, of the first 64 MiB, to the last whole record. Nothing is kept.",
    guard: syncAdministrator(identity, ALL_TYPES),
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
      const numbered = isSet("number_rows", query.numberRows) ? { numberRows: true as const } : {};
      const form = { ...readForm(query), ...numbered };
      const { key, timestamp } = query;
      const wishes: GuessWishes = {
        key: key ? key.split(",").map((column) => column.trim()) : null,
        types: new Map((query.type ?? []).map(columnType)),
        files: importEntry(form, format, (option) => option.replaceAll("-", "_")),
        ...(timestamp ? { timestamp: timestamp === "none" ? null : timestamp } : {}),
      };
      const bytes = incoming(request, sync.timer, activeRuns.stopping);
      const turns = new Turns(sync.clock, () => sync.timer.sleep(0));
      return guessItem(await guessFile(files, { name, format, bytes, wishes, turns }));
    },
  });
}

function columnType(text: string): readonly [string, ColumnType] {
  const read = readColumnType(text);
  if (read !== null) return read;
  const types = COLUMN_TYPES.join(", ");
  throw new AppError("invalid_request", `type must be a column, =, and one of ${types}`);
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
      return { ...column, reason: byParameters(column.reason), problems };
    }),
    key: entry === null ? null : { columns: entry.upsert_key, reason: keyReason ?? "" },
    warnings: [
      ...guess.warnings.map(byParameters),
      ...(leftOut.length === 0 ? [] : [`Left out, as no column can have the name: ${names}`]),
      ...(unread === 0 ? [] : [`Left out: ${unread} that cannot be read; ${firstUnread}`]),
      ...(entry === null ? ["No columns identify a row: name the key, or number the rows"] : []),
    ],
    records: guess.records,
  };
}

/** Names options as parameters of the query. */
function byParameters(text: string): string {
  return text.replace(/--(date-format|decimal|key|timestamp|type)\b/g, (_, name: string) =>
    name.replace("-", "_"),
  );
}

function formatOf(request: Request): FileFormat {
  const type = mediaType(request);
  const format = FILE_FORMATS.find((one) => TYPES[one] === type);
  if (format !== undefined) return format;
  throw new AppError("invalid_request", `The body needs Content-Type: ${ALL_TYPES.join(", ")}`);
}

type FormTexts = Readonly<
  Record<"path" | "encoding" | "delimiter" | "decimal" | "dateFormat", string | null>
>;

/** Throws `invalid_request` for an invalid text. */
function readForm({ path, ...query }: FormTexts): FormOptions {
  return {
    ...formPart("delimiter", query.delimiter, DELIMITER),
    ...formPart("decimal", query.decimal, DECIMAL),
    ...formPart("dateFormat", query.dateFormat, DATE_FORMAT),
    ...formPart("encoding", query.encoding, ENCODING),
    ...(path ? { path } : {}),
  };
}

function formPart<Name extends string, Value>(
  name: Name,
  text: string | null,
  { read, must }: FormReader<Value>,
): { readonly [Key in Name]?: Value } {
  if (text === null || text === "") return {};
  const value = read(text);
  if (value === null) throw new AppError("invalid_request", `${wireName(name)} ${must}`);
  return { [name]: value } as { readonly [Key in Name]: Value };
}
