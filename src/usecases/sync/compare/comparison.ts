import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RemoteCalls } from "../shared/call-remote.ts";
import type { Remote, SyncDeps } from "../shared/sync-deps.ts";
import type { Clocks } from "../transfer/transfer.ts";
import type { Findings } from "./compare-findings.ts";

/** A comparison under way. */
export interface Comparison {
  readonly deps: SyncDeps;
  readonly table: Table;
  readonly remote: Remote;
  readonly calls: RemoteCalls;
  readonly clocks: Clocks;
  readonly findings: Findings;
  readonly signal: AbortSignal;
  /** Rows with a timestamp from here on, in ms since 1970, are looked at twice before they are reported. */
  readonly youngFromMs: number;
  isYoung(row: Row | null): boolean;
}

/** Time between the two looks at a row. */
export const SECOND_LOOK_MS = 1_000;
/** Rows that wait for their second look at most: when there are as many they get it at once. */
export const MAX_YOUNG_ROWS = 10_000;
