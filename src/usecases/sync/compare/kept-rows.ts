import type { KeptRow } from "../../../domain/sync/run/compare-events.ts";

/** Rows that stayed, and the first of them as far as they are known. */
export interface KeptRows {
  readonly count: number;
  readonly examples: readonly KeptRow[];
}

export const NONE_KEPT: KeptRows = { count: 0, examples: [] };
