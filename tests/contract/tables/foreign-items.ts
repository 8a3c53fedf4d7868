// A table that another program made, as the registry has it, and what every store says of one that does not fit. D-11.4.
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { makeTable } from "../../support/rows/make-table.ts";

export const ENTRY: TableEntry = {
  upsert_key: ["a", "b"],
  timestamp_column: "at",
  columns: {
    a: { type: "text" },
    b: { type: "integer" },
    at: { type: "datetime" },
    note: { type: "text" },
  },
};
export const ITEMS = makeTable(ENTRY);
export const ROW = { a: "x", b: 1, at: "2024-01-01T00:00:00Z", note: null };

/** Behind the problems of a table. */
export const ADVICE =
  ". Leave it out of the registry, name a type or key there that it has, or give the table of the registry another name and import the rows into that";
