// The formats of files, each by its adapter.

import { csvEncoder, readCsv } from "../adapters/csv/csv-files.ts";
import { findDelimiter } from "../adapters/csv/delimiters.ts";
import {
  jsonEncoder,
  ndjsonEncoder,
  readJsonArray,
  readNdjson,
} from "../adapters/json-files/json-files.ts";
import { decodeText, encodeText } from "../adapters/text-files/encoded-text.ts";
import type { FileFormats, ForeignDatabase } from "../ports/files.ts";

export const fileFormats: FileFormats = {
  decode: decodeText,
  encode: encodeText,
  read(format, chunks, options) {
    switch (format) {
      case "csv":
        return readCsv(chunks, options);
      case "json":
        return readJsonArray(chunks, options.path);
      case "ndjson":
        return readNdjson(chunks);
    }
  },
  findDelimiter,
  encoder(format, columns, options) {
    switch (format) {
      case "csv":
        return csvEncoder(columns, options);
      case "json":
        return jsonEncoder(columns);
      case "ndjson":
        return ndjsonEncoder(columns);
    }
  },
};

/** Opens a SQLite file of another program to read it. Throws `file_failed`. */
export async function openForeignDatabase(path: string): Promise<ForeignDatabase> {
  const { openForeignFile } = await import("../adapters/sqlite/driver/bun-foreign-file.ts");
  return openForeignFile(path);
}
