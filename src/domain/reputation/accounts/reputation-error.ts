// The expected failures of the reputation interface.
import type { Checked, FieldProblem, ProblemCode } from "./problem.ts";

/** Problems that a reply lists, and those that its sentence names: a body may have thousands. */
const MAX_FIELD_PROBLEMS = 100;
const MAX_NAMED_FIELDS = 10;

/** An expected failure that the caller is told by its code. `message` is safe to show. D-5.2. */
export class ReputationError extends Error {
  override readonly name = "ReputationError";
  /** Not called `code`, which the web framework would take for its own. */
  readonly problem: ProblemCode;
  /** Only with `invalid_request`. */
  readonly fields: readonly FieldProblem[];
  /** Seconds to wait, 1 or more; null when waiting does not help. */
  readonly retryAfterSeconds: number | null;

  constructor(
    problem: ProblemCode,
    message: string,
    options: {
      readonly fields?: readonly FieldProblem[];
      readonly retryAfterSeconds?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.problem = problem;
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** True for a `ReputationError` with one of the given codes, or with any when none is given. */
export function isReputationError(
  error: unknown,
  ...problems: readonly ProblemCode[]
): error is ReputationError {
  if (!(error instanceof ReputationError)) return false;
  return problems.length === 0 || problems.includes(error.problem);
}

/** The checked value. Throws `invalid_request` with every problem. */
export function requireValid<Value>(check: Checked<Value>): Value {
  if (check.value !== null && check.problems.length === 0) return check.value;
  throw invalidFields(check.problems);
}

/** The error for fields with problems: as many of them as a person would read. */
export function invalidFields(problems: readonly FieldProblem[]): ReputationError {
  const fields = problems.slice(0, MAX_FIELD_PROBLEMS);
  const named = fields.slice(0, MAX_NAMED_FIELDS).map(({ pointer }) => pointer);
  const more = problems.length > named.length ? `, and ${problems.length - named.length} more` : "";
  const message = `Invalid fields: ${named.join(", ")}${more}`;
  return new ReputationError("invalid_request", message, { fields });
}
