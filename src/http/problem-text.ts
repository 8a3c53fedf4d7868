import {
  PROBLEMS,
  type ProblemOccurrence,
  problemBody,
} from "../domain/reputation/accounts/problem.ts";

/** Status and JSON of an error of the reputation interface. D-5.2. */
export function problemText(occurrence: ProblemOccurrence): {
  readonly status: number;
  readonly text: string;
} {
  return {
    status: PROBLEMS[occurrence.code].status,
    text: JSON.stringify(problemBody(occurrence)),
  };
}
