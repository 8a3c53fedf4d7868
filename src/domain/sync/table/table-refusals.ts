// What is said of tables of the registry that a store cannot have: all of them at once, a line each. D-2.4, D-11.4.
import { AppError } from "../../shared/errors.ts";
import { showHidden } from "../../shared/text.ts";

/** A table that cannot be used, and everything that is in the way. */
export interface TableRefusal {
  readonly tableName: string;
  /** True for a table that another program made: nothing advises to change or drop it. */
  readonly isForeign: boolean;
  /** Clauses without a full stop, with what to do where that is not the same for all. */
  readonly problems: readonly string[];
}

/** What to do about a change of the registry that rows cannot follow. */
export const CHANGE_ADVICE =
  "Undo the change in the registry, or export the table, drop it and import it again";

const FOREIGN_ADVICE =
  "Leave it out of the registry, name a type or key there that it has, or give the table of the registry another name and import the rows into that";

/** Throws `schema_conflict`, whose message has a line for each table with problems, unless none has. */
export function refuseTables(tables: readonly TableRefusal[], ownAdvice = ""): void {
  const refused = tables.filter(({ problems }) => problems.length > 0);
  if (refused.length === 0) return;
  const lines = refused.map(({ tableName, isForeign, problems }) => {
    const whose = isForeign ? ", which another program made, cannot be used" : "";
    const advice = isForeign ? FOREIGN_ADVICE : ownAdvice;
    const line = `Table "${tableName}"${whose}: ${problems.join("; ")}`;
    // What another program called its types may hold anything.
    return showHidden(advice === "" ? line : `${line}. ${advice}`);
  });
  throw new AppError("schema_conflict", lines.join("\n"));
}
