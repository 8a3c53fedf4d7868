// How many rows a transfer would move, for its start and for dry runs. D-4.11.

import { formatMs, parseDateTime } from "../../../domain/shared/time.ts";
import { FIRST_TIME_MS, formatLike } from "../../../domain/sync/rows/row-time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RowSource } from "../../../ports/tables/row-source.ts";
import type { Transfer } from "./transfer.ts";

/** Before any time that a row can have. */
const FIRST_TIME = formatMs(FIRST_TIME_MS);

/** Rows a push from `sinceTime` would send: those from there on and those without a timestamp. */
export async function countPush(
  rows: RowSource,
  table: Table,
  sinceTime: string | null,
): Promise<number> {
  if (sinceTime === null || table.timestampColumn === null) return rows.countSince(table, null);
  const counted = await rows.countSince(table, sinceTime);
  // Rows without a timestamp come first.
  const [first] = await rows.readAfter(table, { after: null, sinceTime: null, limitRows: 1 });
  const time = first?.[table.timestampColumn];
  if (first === undefined || (typeof time === "string" && parseDateTime(time) !== null)) {
    return counted;
  }
  const [all, timed] = [
    await rows.countSince(table, null),
    await rows.countSince(table, FIRST_TIME),
  ];
  return counted + all - timed;
}

/** Rows a pull from a marker would bring, by the totals of pages of one row. */
export async function countPull(
  { table, remote, calls }: Pick<Transfer, "table" | "remote" | "calls">,
  marker: string | null,
): Promise<number> {
  const count = async (since: string | null) => {
    const { page } = await calls.call((signal) =>
      remote.peer.pullPage(table.name, { since, offset: 0, limit: 1, signal }),
    );
    return page.total;
  };
  const all = await count(null);
  if (marker === null || table.timestampColumn === null) return all;
  const timed = await count(formatLike(marker, FIRST_TIME_MS));
  return (await count(marker)) + Math.max(0, all - timed);
}
