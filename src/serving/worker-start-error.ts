import type { StartFailure } from "./worker-messages.ts";

/** The reason why a worker did not start. */
export class WorkerStartError extends Error {
  readonly exitCode: number;

  constructor({ problem, exitCode }: StartFailure) {
    super(problem);
    this.exitCode = exitCode;
  }
}
