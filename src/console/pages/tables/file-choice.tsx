// Choosing a file and its form. D-14.1, D-14.4.
import { useEffect, useState } from "preact/hooks";
import { ENCODINGS } from "../../../domain/shared/text.ts";
import type { FileForm, SentFile } from "../../api/interface.ts";
import { refusal } from "../../api/request-error.ts";
import { Field, FileField, NAME_HINTS, SelectField, type Typed } from "../../components/form.tsx";

export interface FileChoice {
  readonly name: string;
  readonly file: SentFile;
  readonly form: FileForm;
}

export const FORMATS = [
  ["csv", "CSV"],
  ["json", "JSON"],
  ["ndjson", "NDJSON"],
] as const;
export type FileFormat = (typeof FORMATS)[number][0];

const ENDINGS: Readonly<Record<string, FileFormat>> = {
  ...{ csv: "csv", tsv: "csv", txt: "csv", json: "json", geojson: "json" },
  ...{ ndjson: "ndjson", jsonl: "ndjson" },
};
const TYPES: Readonly<Record<FileFormat, string>> = {
  ...{ csv: "text/csv", json: "application/json", ndjson: "application/x-ndjson" },
};
const ACCEPT = [...Object.keys(ENDINGS), "gz"].map((ending) => `.${ending}`).join(",");

const NOT_SAID = ["", "not said"] as const;

/** Throws `RequestError` without a file, or for an unknown format. */
export function readChoice(content: File | null, typed: Typed): FileChoice {
  if (content === null) throw refusal("file", "Choose a file");
  const ending = endingOf(content.name);
  const format = FORMATS.find(([name]) => name === typed("format"))?.[0] || ENDINGS[ending];
  if (format === undefined) {
    const where = "say it under “What the file is like”";
    throw refusal("file", `The name “${content.name}” does not tell the format: ${where}`);
  }
  const delimiter = typed("delimiter") || (ending === "tsv" && format === "csv" ? "tab" : "");
  return {
    name: content.name,
    file: { content, type: TYPES[format] },
    form: {
      delimiter,
      encoding: typed("encoding"),
      decimal: typed("decimal"),
      date_format: typed("date_format"),
      path: typed("path") || (ending === "geojson" ? "features" : ""),
    },
  };
}

/** The ending before `.gz`. */
function endingOf(name: string): string {
  return /\.([a-z]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}

interface FileFieldsProps {
  readonly file: File | null;
  readonly onFile: (file: File | null) => void;
  /** What happens where a choice is left open. */
  readonly otherwise: string;
  readonly usualEncoding?: string | undefined;
}

/** Fields of `readChoice`, within a form. */
export function FileFields({ file, onFile, otherwise, usualEncoding }: FileFieldsProps) {
  const [encoding, setEncoding] = useState("");
  const { text, supposed } = useBeginning(file, encoding || usualEncoding || "utf-8");
  const isEncodedOtherwise = text.includes("\ufffd");
  return (
    <>
      <FileField
        label="File"
        name="file"
        hint="CSV, JSON or NDJSON, packed by gzip or not"
        accept={ACCEPT}
        onFile={onFile}
      />
      {text !== "" && (
        <>
          <p class="quiet">It begins with</p>
          <pre class="code-line">{text.split(/\r\n|\r|\n/, SHOWN_LINES).join("\n")}</pre>
        </>
      )}
      {isEncodedOtherwise && (
        <p>
          Some of it is no text in {supposed}: choose another encoding. Files of Excel are often
          latin1.
        </p>
      )}
      <details open={isEncodedOtherwise}>
        <summary>What the file is like</summary>
        <p class="quiet">Where nothing is said, {otherwise}.</p>
        <div class="checks">
          <SelectField
            label="Format"
            name="format"
            options={[["", "By the file's name"], ...FORMATS]}
          />
          <SelectField
            label="Encoding"
            name="encoding"
            value={encoding}
            onValue={setEncoding}
            options={[NOT_SAID, ...ENCODINGS]}
          />
          <Field
            label="Delimiter"
            name="delimiter"
            hint="CSV: one character, or tab"
            hints={NAME_HINTS}
          />
          <SelectField
            label="Decimal sign"
            name="decimal"
            hint="CSV"
            options={[NOT_SAID, [",", ", as in 1.234,50"], [".", ". as in 1,234.50"]]}
          />
          <Field
            label="Date format"
            name="date_format"
            hint="CSV: such as DD.MM.YYYY HH:mm"
            hints={NAME_HINTS}
          />
          <Field
            label="Path"
            name="path"
            hint="JSON: the array within the document, such as data.items"
            hints={NAME_HINTS}
          />
        </div>
      </details>
    </>
  );
}

/** Enough to see a wrong encoding or delimiter. */
const SHOWN_BYTES = 2_000;
const SHOWN_LINES = 5;

/** Byte order marks, which decide before any choice. */
const MARKS = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
] as const;

/** The beginning of a file and the encoding in which it is shown; empty for a packed file, and without a file. */
function useBeginning(file: File | null, otherwise: string) {
  const [beginning, setBeginning] = useState<Uint8Array | null>(null);
  useEffect(() => {
    let isOver = false;
    const show = (bytes: ArrayBuffer | null) => {
      if (!isOver) setBeginning(bytes === null ? null : new Uint8Array(bytes));
    };
    if (file === null || /\.gz$/i.test(file.name)) show(null);
    else {
      void file
        .slice(0, SHOWN_BYTES)
        .arrayBuffer()
        .then(show, () => show(null));
    }
    return () => {
      isOver = true;
    };
  }, [file]);
  const bytes = beginning ?? new Uint8Array();
  const marked = MARKS.find(([, mark]) => mark.every((byte, i) => byte === bytes[i]));
  const supposed = marked?.[0] ?? otherwise;
  // The bytes may end within a character.
  return { supposed, text: new TextDecoder(supposed).decode(bytes, { stream: true }) };
}
