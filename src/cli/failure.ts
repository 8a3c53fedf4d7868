// The end of a command: its exit code, and what its user is told when it fails.
import { CommanderError } from "commander";
import type { AppErrorKind } from "../domain/shared/error-kinds.ts";
import { type InputProblem, isAppError } from "../domain/shared/errors.ts";

/** The end of a command. D-4.12. */
export const EXIT = {
  success: 0,
  failed: 1,
  /** A wrong command line or configuration: nothing was done. */
  usage: 2,
  /** Done except for some records; or compared and found different. */
  partial: 3,
  /** The demo was interrupted before its end: 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure as the user is told it: no stack, no secret. */
interface FailureText {
  readonly code: ExitCode;
  readonly message: string;
  /** The advice; null for none. */
  readonly hint: string | null;
  readonly problems: readonly string[];
}

const USAGE_KINDS: readonly AppErrorKind[] = [
  "invalid_request",
  "schema_conflict",
  "sync_misconfigured",
  "unknown_table",
];
const INTERNAL = { message: "Internal error", hint: "Set LOG_LEVEL to debug to see its cause" };

/** The text about anything that a command throws; null when the user was told already. */
export function describeFailure(error: unknown): FailureText | null {
  if (error instanceof CommanderError) return null;
  if (!isAppError(error)) return { code: EXIT.failed, ...INTERNAL, problems: [] };
  const { message, hint, problems } = error;
  const hasPlaces = problems.some(({ pointer }) => pointer !== "");
  return {
    code: isAppError(error, ...USAGE_KINDS) ? EXIT.usage : EXIT.failed,
    message: hasPlaces ? "These values cannot be used" : message,
    hint,
    problems: problems.map(problemText),
  };
}

function problemText({ pointer, detail }: InputProblem): string {
  return pointer === "" ? detail : `${pointer.slice(1)}: ${detail}`;
}
