// The service's own tables as parts that every store reads and writes.
import type { PortablePart } from "../../../ports/copies/portable-store.ts";

/** A table whose rows are the entries of a part, by the names of columns and fields. */
export interface PlainPart {
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Fields that are true or false. */
  readonly flags?: readonly string[];
  /** Which rows belong to it. */
  readonly where?: string;
}

/** Those of which each entry is one row. */
export const PLAIN_PARTS: Partial<Record<PortablePart, PlainPart>> = {
  facts: {
    table: "repsync_store",
    columns: { name: "name", value: "value" },
    where: "name = 'deployment_id'",
  },
};

/** Tables of the other parts. */
export const OTHER_TABLES: readonly string[] = ["repsync_deletes"];

/** Made anew by a start, or of the processes that use the file. */
export const NOT_MOVED: readonly string[] = [
  ...["repsync_tables", "repsync_moment", "repsync_versions"],
];
