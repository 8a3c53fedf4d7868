// How a command ends: its exit code, and what its user is told when it fails.
import { CommanderError } from "commander";
import { type AppErrorKind, type InputProblem, isAppError } from "../domain/shared/errors.ts";

/** How a command ends. D-4.12. */
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
  readonly problems: readonly string[];
}

const USAGE_KINDS: readonly AppErrorKind[] = [
  "invalid_request",
  "schema_conflict",
  "sync_misconfigured",
  "unknown_table",
];
const INTERNAL_MESSAGE = "Internal error; set LOG_LEVEL to debug to see its cause";

/** What to tell about anything that a command throws; null when the user was told already. */
export function describeFailure(error: unknown): FailureText | null {
  if (error instanceof CommanderError) return null;
  const message = error instanceof Error ? error.message : "";
  if (isAppError(error, "invalid_request") && error.problems.length > 0) {
    const hasPlaces = error.problems.some(({ pointer }) => pointer !== "");
    return {
      code: EXIT.usage,
      message: hasPlaces ? "These values cannot be used" : message,
      problems: error.problems.map(problemText),
    };
  }
  if (isAppError(error, ...USAGE_KINDS)) return { code: EXIT.usage, message, problems: [] };
  const text = isAppError(error) ? message : INTERNAL_MESSAGE;
  return { code: EXIT.failed, message: text, problems: [] };
}

function problemText({ pointer, detail }: InputProblem): string {
  return pointer === "" ? detail : `${pointer.slice(1)}: ${detail}`;
}
