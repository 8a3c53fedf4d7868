import { isAppError } from "../../src/domain/shared/errors.ts";

/** What an error is to a caller; null when nothing was thrown. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<{ kind: unknown; message: string } | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: "kind" in error ? error.kind : error.name, message: error.message };
  }
}

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
