// Which columns took part when a table was last moved in a direction: what tells a registry that has changed since, at
// either end. D-7.3.
import { comparedColumns } from "../rows/row-text.ts";
import type { Table } from "../table/table.ts";

/** The columns of a run that ended well. */
export interface KnownColumns {
  /** Those that both ends had. */
  readonly moved: readonly string[];
  /** Those here that the remote did not have. */
  readonly leftOut: readonly string[];
}

/** The columns of a run of today. `leftOut` is that of `compareSchemas`; of a remote that tells no schema it is empty. */
export function columnsNow(table: Table, leftOut: readonly string[]): KnownColumns {
  const names = comparedColumns(table).map(({ name }) => name);
  return { moved: names.filter((name) => !leftOut.includes(name)), leftOut };
}

/** Columns that take part now and did not then: they are to be moved for all rows. None when nothing is known of then. */
export function addedColumns(then: KnownColumns | undefined, now: KnownColumns): readonly string[] {
  return then === undefined ? [] : now.moved.filter((name) => !then.moved.includes(name));
}

/**
 * Those of them that were not registered here then, though the remote had them or may have: nothing was fetched for them,
 * so that a push would empty what the remote has.
 */
export function unfetchedColumns(
  then: KnownColumns | undefined,
  now: KnownColumns,
): readonly string[] {
  return addedColumns(then, now).filter((name) => !then?.leftOut.includes(name));
}

/** The columns of a run as if it had left some of them out; null where that changes nothing. */
export function leavingOut(
  { moved, leftOut }: KnownColumns,
  names: readonly string[],
): KnownColumns | null {
  const isOut = (name: string) => names.includes(name);
  const out = moved.filter(isOut);
  if (out.length === 0) return null;
  return { moved: moved.filter((name) => !isOut(name)), leftOut: [...leftOut, ...out] };
}

/** Columns that the remote did not have at the last push, and has now: it knows nothing of what is in them here. */
export function unsentColumns(
  then: KnownColumns | undefined,
  now: KnownColumns,
): readonly string[] {
  return then === undefined ? [] : now.moved.filter((name) => then.leftOut.includes(name));
}
