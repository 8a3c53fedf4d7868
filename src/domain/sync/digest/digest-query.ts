// Reads what a digest is asked for. D-4.10.
import { AppError } from "../../shared/errors.ts";
import { type JsonValue, parseJson } from "../../shared/json.ts";
import { DIGEST_SEGMENT_ROWS } from "../../shared/limits.ts";
import { convertPosition, keyRow, type UpsertKey } from "../rows/row-key.ts";
import type { Table } from "../table/table.ts";
import type { DigestParameters, DigestQuery } from "./digest-page.ts";

/** Most rows of a segment that may be asked for. */
export const MAX_SEGMENT_ROWS = 999_999_999;

/** Reads the parameters. Throws `invalid_request`. */
export function readDigestQuery(table: Table, parameters: DigestParameters): DigestQuery {
  const segmentRows = parameters.segmentRows ?? String(DIGEST_SEGMENT_ROWS);
  if (!/^[1-9]\d*$/.test(segmentRows) || Number(segmentRows) > MAX_SEGMENT_ROWS) {
    throw new AppError(
      "invalid_request",
      `segment_rows must be a whole number from 1 to ${MAX_SEGMENT_ROWS}: "${segmentRows}"`,
    );
  }
  return {
    after: readKey(table, "after", parameters.after),
    through: readKey(table, "through", parameters.through),
    segmentRows: Number(segmentRows),
    withRecords: parameters.records === "true",
  };
}

function readKey(table: Table, name: string, text: string | null): UpsertKey | null {
  if (text === null || text === "") return null;
  const values = tryParse(text);
  const key =
    Array.isArray(values) && values.length === table.keyColumns.length
      ? convertPosition(table, keyRow(table, values))
      : null;
  if (key !== null) return key;
  const names = table.keyColumns.map((column) => column.name).join(", ");
  throw new AppError(
    "invalid_request",
    `${name} must be a JSON array of the key columns: ${names}`,
  );
}

function tryParse(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
