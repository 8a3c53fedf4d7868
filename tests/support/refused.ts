import { isAppError } from "../../src/domain/shared/errors.ts";

/** What is wrong with the input that `work` reads, one sentence for each problem; empty when it is taken. */
export function refused(work: () => unknown): readonly string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    return error.problems.map(({ detail }) => detail);
  }
}
