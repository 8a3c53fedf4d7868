// Two ends of a table with deletes, in memory.
import { expect } from "bun:test";
import type { RunRequest } from "../../../../src/domain/sync/run/run.ts";
import {
  BY_TIME,
  makeTwoEnds,
  put,
  rowsOf,
  runOf,
  type TwoEnds,
  type TwoEndsOptions,
} from "../two-ends.ts";

export const OLD = "2026-03-01T10:00:00Z";
export const EDITED = "2026-03-01T11:59:59Z";
export const WITH_DELETES = { ...BY_TIME, deletes: true };

/** Both ends with the same rows, after a run. */
export async function makeEqualEnds(
  keys: readonly string[],
  options: TwoEndsOptions = {},
): Promise<TwoEnds> {
  const ends = await makeTwoEnds({ entry: WITH_DELETES, ...options });
  put(
    ends.here,
    ends.table,
    keys.map((k) => [k, "v", OLD] as const),
  );
  expect(await both(ends)).toMatchObject({ status: "success" });
  ends.requests.length = 0;
  return ends;
}

export async function both(ends: TwoEnds, request: Partial<RunRequest> = {}) {
  return (await runOf(ends, { direction: "both", ...request })).run;
}

export function keysOf(storage: TwoEnds["here"], { table }: TwoEnds): string[] {
  return rowsOf(storage, table).map(([k]) => k);
}

export async function tombstonesOf(
  storage: TwoEnds["here"],
  { table }: TwoEnds,
): Promise<unknown[]> {
  const query = { after: null, sinceTime: null, limitRows: 100_000 };
  return (await storage.tombstones.list(table, query)).items.map(({ key }) => key["k"]);
}

export function remove(storage: TwoEnds["here"], { table }: TwoEnds, ...keys: string[]): void {
  for (const k of keys) storage.remove(table, { k });
}
