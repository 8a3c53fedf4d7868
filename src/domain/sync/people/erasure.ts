// The memory of people who were erased here, and what follows for rows and people of their names. D-8.2.
import { rankTimes } from "../rows/row-time.ts";

export interface Erasure {
  /** Canonical time. */
  readonly at: string;
  /** False once a new person may have the name, or has it. */
  readonly isTaken: boolean;
}

export const ERASED_MESSAGE = "was erased here";

export function erasedNameText(username: string): string {
  return `repsync.erased.name.v1\n${username}`;
}

/** True for what is not written: all while the name is taken, then what is no newer than the erasure. `limit` as in `rankTimes`. */
export function isLeftOut(time: string | null, { at, isTaken }: Erasure, limit: string): boolean {
  return isTaken || rankTimes(time, at, limit) <= 0;
}
