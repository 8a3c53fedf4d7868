import { CommanderError } from "commander";
import { isReputationError } from "../domain/reputation/accounts/reputation-error.ts";
import { type AppErrorKind, isAppError } from "../domain/shared/errors.ts";
import { RemotePeerError } from "../ports/tables/remote-peer.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { FileProblem } from "./files/file-problem.ts";

/** A wrong command line or configuration. `message` is safe to show. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** Every single thing that is wrong; empty when the message says it all. */
  readonly problems: readonly string[];

  constructor(message: string, problems: readonly string[] = []) {
    super(message);
    this.problems = problems;
  }
}

/** A failure as its user is told: no stack, no secret. */
export interface FailureText {
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

/** What to tell of anything that a command throws; null for what has been told already. */
export function describeFailure(error: unknown): FailureText | null {
  if (error instanceof CommanderError) return null;
  const told = { message: error instanceof Error ? error.message : "", problems: [] };
  if (error instanceof UsageError) {
    return { ...told, code: EXIT.usage, problems: error.problems };
  }
  if (isReputationError(error, "invalid_request")) {
    const problems = error.fields.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
    return { message: "These values cannot be used", code: EXIT.usage, problems };
  }
  if (isAppError(error, ...USAGE_KINDS)) return { ...told, code: EXIT.usage };
  const isExpected =
    isAppError(error) ||
    isReputationError(error) ||
    error instanceof RemotePeerError ||
    error instanceof FileProblem;
  return { ...told, code: EXIT.failed, ...(isExpected ? {} : { message: INTERNAL_MESSAGE }) };
}
