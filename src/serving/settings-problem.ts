import { isAppError } from "../domain/shared/errors.ts";
import { EXIT_FAILED, EXIT_USAGE } from "../environment.ts";
import { errorText } from "./listen.ts";
import { WorkerStartError } from "./worker-start-error.ts";

/** Why a deployment could not be made, in one line; all problems where the settings have several. */
export function settingsProblem(error: unknown): string {
  if (!isAppError(error, "invalid_request") || error.problems.length === 0) return errorText(error);
  return error.problems.map(({ detail }) => detail).join("; ");
}

/** What a program that cannot start ends with. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof WorkerStartError) return error.exitCode;
  return isAppError(error, "schema_conflict", "invalid_request") ? EXIT_USAGE : EXIT_FAILED;
}
