// The way through a group of rows by offset: on, back where rows may have been skipped, and again from its beginning.
import { AppError } from "../../shared/errors.ts";
import type { PullPage } from "../rows/page.ts";
import type { ColumnValue } from "../table/table.ts";

/** Passes, and steps back in a row, before the pull gives up. A peer with ties in random order needs about ten. */
const MAX_PASSES = 60;
/** The part of a page that the next one repeats, to see whether it follows on: one row of so many. */
const ROWS_PER_REPEATED = 64;
/** How many times the rows that a peer first spoke of it may send before it is taken for one that never ends. */
const MAX_GROWTH = 4;
const MIN_GROWTH_ROWS = 10_000;

/** One way through the group, from its beginning to its end. */
export interface Pass {
  /** Where the group began in it; null until a member has come. */
  start: number | null;
  /** Of the last member; null when rows are not in the order of their keys. */
  lastKey: readonly ColumnValue[] | null;
  isOrdered: boolean;
}

/** Where the reading of a group stands. */
export interface GroupWalk {
  /** Rows to skip in the next request. */
  offset(): number;
  /** Where passes begin. */
  begin(): number;
  /** The present one. */
  pass(): Pass;
  /** To the page behind this one, which it overlaps. Throws `remote_invalid` for rows without end. */
  goOn(page: PullPage, seenRows: number): void;
  /** Over a page without members. */
  skip(rows: number): void;
  /** Half a page back, as rows may have been skipped. Throws `remote_invalid` when that was done too often. */
  stepBack(page: PullPage): void;
  /** Another pass, from `earlierRows` before where the last one began. Throws as `stepBack` does. */
  again(earlierRows?: number): void;
}

/** Starts at `begin` with the first pass. `label` stands in messages, such as `without a timestamp`. */
export function startGroupWalk(from: {
  readonly begin: number;
  readonly label: string;
}): GroupWalk {
  let { begin } = from;
  let offset = begin;
  let passes = 1;
  let stepsBack = 0;
  let pass = startPass();

  function giveUp(): never {
    const text = `The remote's rows ${from.label} kept changing while they were read`;
    throw new AppError("remote_invalid", `${text}; run the sync again`);
  }

  return {
    offset: () => offset,
    begin: () => begin,
    pass: () => pass,
    goOn(page, seenRows) {
      stepsBack = 0;
      const overlap = Math.ceil(page.limit / ROWS_PER_REPEATED);
      offset += page.records.length - Math.min(page.records.length - 1, overlap);
      if (offset - (pass.start ?? 0) <= MAX_GROWTH * (seenRows + page.limit)) return;
      throw new AppError("remote_invalid", "The remote sends the same rows again and again");
    },
    skip(rows) {
      offset += rows;
    },
    stepBack(page) {
      if (++stepsBack > MAX_PASSES) giveUp();
      offset = Math.max(begin, offset - Math.ceil(page.limit / 2));
    },
    again(earlierRows = 0) {
      if (++passes > MAX_PASSES) giveUp();
      begin = Math.max(0, begin - earlierRows);
      offset = begin;
      pass = startPass();
    },
  };
}

function startPass(): Pass {
  return { start: null, lastKey: null, isOrdered: true };
}

/** Refuses rows without end: far more than the peer spoke of at first. Throws `remote_invalid`. */
export function checkGrowth(rows: number, firstTotal: number): void {
  if (rows <= MAX_GROWTH * firstTotal + MIN_GROWTH_ROWS) return;
  throw new AppError(
    "remote_invalid",
    `The remote sent ${rows} rows, far more than the ${firstTotal} it said it has, and goes on`,
  );
}
