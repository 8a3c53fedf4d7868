// Errors of the server and the client, told apart by SQLSTATE.
import { AppError } from "../../../domain/shared/errors.ts";
import { PASSED_OVER } from "../../../ports/tables/table-writes.ts";

/** A statement that failed; no error of the client leaves this folder otherwise. */
export class Failure extends Error {
  /** The SQLSTATE; null where no server said it, as when a connection broke. */
  readonly state: string | null;
  /** The client's name of it; null where there is none. */
  readonly code: string | null;
  /** The name of the rule of the table that was broken; null where it is none. */
  readonly rule: string | null;

  constructor(error: unknown) {
    const { errno, code, constraint } = error as Record<string, unknown>;
    super(error instanceof Error ? error.message : String(error));
    this.state = typeof errno === "string" && /^[0-9A-Z]{5}$/.test(errno) ? errno : null;
    this.code = typeof code === "string" ? code : null;
    this.rule = typeof constraint === "string" ? constraint : null;
  }
}

/** The hint where PostgreSQL does not answer, or not to us. */
export const SERVERS_HINT =
  "Check that the server of the store runs, and that its user may read and write";

/** Ended by the server after the time of their call: a statement, or a transaction as its process stood still. */
const LATE = ["57014", "25P03"];
/** Bodies that met, or waited too long for one another: 40001, a deadlock, `lock_timeout`. */
const MET = ["40001", "40P01", "55P03"];

export function hasMet({ state }: Failure): boolean {
  return state !== null && MET.includes(state);
}

/** True when another try on another connection may go well: it broke, or the server starts, ends or has too many. */
export function isPassing({ state }: Failure): boolean {
  return state === null || /^(?:57P0[1-5]|53|08|25006)/.test(state);
}

/** States about the connection, the server, the transaction or the statement, and not about the rows that it writes. */
const NOT_OF_ROWS = /^(?:0[389B]|2[56D]|3[BD]|40|42|5[357]|58|72|F0|XX)/;

/** True when it is a record that was refused, by its values, by a rule of the table or by whatever a trigger raises. */
export function isRefusal(error: unknown): error is Failure {
  return error instanceof Failure && error.state !== null && !NOT_OF_ROWS.test(error.state);
}

/** The message of an application's function about its broken rule; null for messages of the server: they may hold values. */
function raisedText({ state, message }: Failure): string | null {
  const isRaised = state !== null && /^(?:P000[14]|(?!P0|HV)[A-Z])/.test(state);
  return isRaised && message !== "" ? message : null;
}

/** Why a record was refused, or the removal of a row, for its sender. */
export function refusalText(failure: Failure, isRemoval = false): string {
  const { state, rule } = failure;
  const raised = raisedText(failure);
  if (raised !== null) return raised;
  const named = rule === null ? "" : ` "${rule}"`;
  if (state === "23505")
    return `another row has the same values, which ${named.trim() || "an index"} forbids`;
  if (state === "23502") return "a column of the table may not be null";
  if (state === "23503" && isRemoval) return `a row of another table names it${named}`;
  if (state === "23503") return `the row of another table that it names is not there${named}`;
  if (state === "54000") return "its key is too long for an index of PostgreSQL";
  if (state?.startsWith("23")) return `it breaks the rule${named} of the table`;
  return `PostgreSQL refuses it (${state})`;
}

export function hasState(error: unknown, state: string): error is Failure {
  return error instanceof Failure && error.state === state;
}

/** A row that is not written, though nothing says why. */
export function passedOver(): Failure {
  return new Failure(Object.assign(new Error(PASSED_OVER), { errno: "P0001" }));
}

/** A right that is found to be missing before the server says so. */
export function lackingRight(message: string): Failure {
  return new Failure(Object.assign(new Error(message), { errno: "42501" }));
}

/** The error that a caller gets for a failed call to the server. `hasRows`: the call changed rows of tables. */
export function unavailable(failure: unknown, hasRows = false): AppError {
  const known = failure instanceof Failure ? failure : null;
  const raised = known === null ? null : raisedText(known);
  const text = raised ?? textOf(known?.state ?? null);
  return new AppError(hasRows ? "commit_failed" : "store_unavailable", text, {
    cause: failure,
    hint: raised === null ? SERVERS_HINT : null,
  });
}

function textOf(state: string | null): string {
  if (state === null) return "PostgreSQL cannot be reached, or does not answer";
  if ([...LATE, ...MET].includes(state)) return "PostgreSQL did not answer in time";
  if (state === "08P01") {
    return "A pooler before PostgreSQL refuses to go on: its log says why, and its mode has to be transaction or session";
  }
  if (state.startsWith("57P0")) return "PostgreSQL is starting or stopping";
  if (state === "42501") return "The role lacks a right in PostgreSQL";
  if (state.startsWith("53")) return "PostgreSQL has no room, or no connection, left";
  if (state === "25006") return "PostgreSQL takes no writes now: it is a standby, or read-only";
  return `PostgreSQL refuses a statement (${state})`;
}

/** A call has ended because PostgreSQL did not answer. */
export class TimeUp extends AppError {
  constructor() {
    super("store_unavailable", "PostgreSQL did not answer in time", { hint: SERVERS_HINT });
  }
}
