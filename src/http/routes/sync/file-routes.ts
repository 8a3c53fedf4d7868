// Tables as files, for administrators, with sync disabled too. D-14.4.
import { AppError } from "../../../domain/shared/errors.ts";
import { ENCODINGS } from "../../../domain/shared/text.ts";
import { parseSince } from "../../../domain/shared/time.ts";
import { wireName } from "../../../domain/shared/wire-names.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { FILE_FORMATS, type FileFormat, startingWith } from "../../../ports/files.ts";
import { exportFile } from "../../../usecases/sync/files/export-rows.ts";
import {
  DATE_FORMAT,
  DECIMAL,
  DELIMITER,
  ENCODING,
  type FormOptions,
  type FormReader,
} from "../../../usecases/sync/files/file-form.ts";
import { syncAdministrator } from "../../guards/bearer.ts";
import { mediaType } from "../../guards/browser.ts";
import { type Operation, operation } from "../../operation.ts";
import { file, type SentFile } from "../../replies.ts";
import { given, givenTime, oneOf, tableName } from "../../schemas/parts.ts";
import { ImportEventSchema } from "../../schemas/run-events.ts";
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
export const ALL_TYPES = Object.values(TYPES);

export function flag(description: string) {
  return oneOf(["true", "false"], { description, default: "false" });
}

export function fileRoutes(deps: SyncAdministration): Operation[] {
  return [exporting(deps), importing(deps)];
}

function exporting({ identity, sync, files }: SyncAdministration): Operation {
  return operation({
    at: "GET /api/v1/sync/export/:table_name",
    id: "exportTable",
    summary: "Download the rows of a table as a file",
    description:
      "Each row once, in the order of the key, as `repsync export` writes them. Whoever takes nothing for a minute is cut off.",
    guard: syncAdministrator(identity),
    params: { table_name: tableName(sync) },
    query: {
      format: oneOf(FILE_FORMATS, { description: "Of the file", default: "csv" }),
      since: givenTime("Only rows whose timestamp is at or after this time"),
      spreadsheet: flag("CSV only: `'` comes before fields that a spreadsheet would run"),
    },
    replies: {
      200: file("The file", ALL_TYPES),
      400: "Unknown or unused table, a bad format, since or spreadsheet, or a character that the table's encoding lacks",
    },
    isSlow: true,
    run: async ({ caller: { requireStill, ...by }, params, query }) => {
      const table = findTable(sync.registry, params.tableName);
      const format = query.format ?? "csv";
      const isForSpreadsheet = query.spreadsheet === "true";
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

function readSince(text: string | null): string | null {
  if (text === null || text === "") return null;
  const time = parseSince(text);
  if (time === null) throw new AppError("invalid_request", "since must be a date and time");
  return time;
}

export const FORM_QUERY = {
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
    guard: syncAdministrator(identity),
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
      400: "Unknown or unused table, a bad parameter, or a body of another type",
      409: "The rows are written at the remote",
    },
    isSlow: true,
    run: ({ exchange: { request }, caller, params, query }) => {
      const { requireStill, ...by } = caller;
      const format = formatOf(request);
      const isAppending = query.append === "true";
      const whole =
        query.whole === "true" ? { maxDeletes: readMaxDeletes(query.maxDeletes) } : null;
      if (isAppending && whole !== null) {
        throw new AppError("invalid_request", "append adds to a table, whole replaces it");
      }
      const { tableName: name } = params;
      const started = activeRuns.import(files, {
        tableName: name,
        format,
        form: readForm(query),
        isDryRun: query.dryRun === "true",
        isLax: query.lax === "true",
        isForced: query.force === "true",
        isAppending,
        whole,
        restores: query.restore === "true",
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

export function formatOf(request: Request): FileFormat {
  const type = mediaType(request);
  const format = FILE_FORMATS.find((one) => TYPES[one] === type);
  if (format !== undefined) return format;
  throw new AppError("invalid_request", `The body needs Content-Type: ${ALL_TYPES.join(", ")}`);
}

type FormTexts = Readonly<
  Record<"path" | "encoding" | "delimiter" | "decimal" | "dateFormat", string | null>
>;

/** Throws `invalid_request` for an invalid text. */
export function readForm({ path, ...query }: FormTexts): FormOptions {
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
  reader: FormReader<Value>,
): { readonly [Key in Name]?: Value } {
  if (text === null || text === "") return {};
  return { [name]: readValue(name, text, reader) } as { readonly [Key in Name]: Value };
}

/** Throws `invalid_request` for an invalid text. */
export function readValue<Value>(name: string, text: string, reader: FormReader<Value>): Value {
  const value = reader.read(text);
  if (value !== null) return value;
  throw new AppError("invalid_request", `${wireName(name)} ${reader.must}`);
}
