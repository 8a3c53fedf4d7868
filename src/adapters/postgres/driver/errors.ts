// Errors of the server and the client, by SQLSTATE.
import { CHANGED_HINT } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { PASSED_OVER } from "../../../ports/tables/table-writes.ts";

/** A failed statement. The client's other errors do not leave this folder. */
export class Failure extends Error {
  /** SQLSTATE; null where no server answered, as when a connection broke. */
  readonly state: string | null;
  /** The client's code; null where there is none. */
  readonly code: string | null;
  /** The broken constraint of the table, or its column that may not be null; null for other failures. */
  readonly rule: string | null;

  constructor(error: unknown) {
    const { errno, code, constraint, column } = error as Record<string, unknown>;
    const rule = constraint ?? column;
    super(error instanceof Error ? error.message : String(error));
    this.state = typeof errno === "string" && /^[0-9A-Z]{5}$/.test(errno) ? errno : null;
    this.code = typeof code === "string" ? code : null;
    this.rule = typeof rule === "string" ? rule : null;
  }
}

/** For a PostgreSQL that does not answer, or refuses. */
export const SERVERS_HINT =
  "Check that the server of the store runs, and that its user may read and write";

/** A table, a column or a constraint is missing, or of another type. */
const CHANGED = ["42P01", "42703", "42P10", "42804"];

/** The server ended a statement after the time of its call, or a transaction whose process stood still. */
const LATE = ["57014", "25P03"];
/** Conflicts: 40001, a deadlock, `lock_timeout`. */
const CONFLICTS = ["40001", "40P01", "55P03"];

export function isConflict({ state }: Failure): boolean {
  return state !== null && CONFLICTS.includes(state);
}

/** True when another connection may succeed: this one broke, or the server starts, stops or has too many. A full disk stays full. */
export function isPassing({ state }: Failure): boolean {
  return state === null || /^(?:57P0[1-5]|53[^1]|08|25006)/.test(state);
}

/** Failures because of the connection, server, transaction or statement, not because of the rows. */
const NOT_OF_ROWS = /^(?:0[389B]|2[56D]|3[BD]|40|42|5[357]|58|72|F0|XX)/;

/** True when a record was refused, by its values, a constraint or a trigger. */
export function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && error.state !== null && !NOT_OF_ROWS.test(error.state);
}

/** The message that an application's function raises; null for the server's messages, which may hold values. */
function raisedText({ state, message }: Failure): string | null {
  const isRaised = state !== null && /^(?:P000[14]|(?!F0|HV|P0|XX)[A-Z])/.test(state);
  return isRaised && message !== "" ? message : null;
}

/** Why a record, or the removal of a row, was refused, for its sender. */
export function refusalText(failure: Failure, isRemoval = false): string {
  const { state, rule } = failure;
  const raised = raisedText(failure);
  if (raised !== null) return raised;
  const named = rule === null ? "" : ` "${rule}"`;
  if (state === "23505")
    return `another row has the same values, which ${named.trim() || "an index"} forbids`;
  if (state === "23502") return `the column${named} of the table may not be null`;
  if (state === "23503" && isRemoval) return `a row of another table names it${named}`;
  if (state === "23503") return `the row of another table that it names is not there${named}`;
  if (state === "54000") return "its key is too long for an index of PostgreSQL";
  if (state?.startsWith("23")) return `it breaks the rule${named} of the table`;
  return `PostgreSQL refuses it (${state})`;
}

export function hasState(error: unknown, state: string): error is Failure {
  return error instanceof Failure && error.state === state;
}

/** The failure for a row that the server passed over without a reason. */
export function passedOver(): Failure {
  return new Failure(Object.assign(new Error(PASSED_OVER), { errno: "P0001" }));
}

/** The failure for a missing right, found before the server refuses a statement. */
export function lackingRight(message: string): Failure {
  return new Failure(Object.assign(new Error(message), { errno: "42501" }));
}

/** The caller's error for a failed call; `hasRows` when the call changed rows of tables. */
export function unavailable(failure: unknown, hasRows = false): AppError {
  const known = failure instanceof Failure ? failure : null;
  const raised = known === null ? null : raisedText(known);
  const text = raised ?? textOf(known?.state ?? null);
  return new AppError(hasRows ? "commit_failed" : "store_unavailable", text, {
    cause: failure,
    hint: raised === null ? hintOf(known?.state ?? "") : null,
  });
}

function hintOf(state: string): string {
  return CHANGED.includes(state) ? CHANGED_HINT : SERVERS_HINT;
}

function textOf(state: string | null): string {
  if (state === null) return "PostgreSQL cannot be reached, or does not answer";
  if ([...LATE, ...CONFLICTS].includes(state)) return "PostgreSQL did not answer in time";
  if (state === "08P01") {
    return "A pooler before PostgreSQL refuses to go on: its log says why, and its mode has to be transaction or session";
  }
  if (state.startsWith("57P0")) return "PostgreSQL is starting or stopping";
  if (state === "42501") return "The role lacks a right in PostgreSQL";
  if (state === "53300") return "PostgreSQL has no connection left";
  if (state.startsWith("53")) return "PostgreSQL has no room left";
  if (state === "25006") return "PostgreSQL takes no writes now: it is a standby, or read-only";
  return `PostgreSQL refuses a statement (${state})`;
}

/** PostgreSQL did not answer before the end of the call. */
export class TimeUp extends AppError {
  constructor() {
    super("store_unavailable", "PostgreSQL did not answer in time", { hint: SERVERS_HINT });
  }
}
