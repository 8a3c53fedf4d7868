// Verifications that administrators start in a serving process, one at a time, as each takes a share of the core that answers
// everybody. D-9.5. The place is taken with the first event, not with the request: a reply that nobody reads would keep others
// out.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import type { Clock, Logger, Timer } from "../../../ports/runtime/runtime.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import {
  type AuditProgress,
  type AuditVerdict,
  type VerifyAuditDeps,
  verifyInSteps,
} from "./verify-audit.ts";

interface AuditVerificationsDeps extends VerifyAuditDeps {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** The events of a verification; `finished` comes last. */
export type AuditVerificationEvent =
  | ({ readonly type: "progress" } & AuditProgress)
  | ({ readonly type: "done" } & AuditVerdict)
  /** It did not come to its end. */
  | { readonly type: "error"; readonly error: string }
  | { readonly type: "finished" };

const IS_RUNNING = "The audit log is being verified by this process: try again when that has ended";
const IS_STOPPING = "The service is stopping: verify the audit log again later";
const IS_BROKEN = "The verification failed; the log of the service has the details";

export class AuditVerifications {
  readonly #deps: AuditVerificationsDeps;
  #isRunning = false;
  #isStopping = false;

  constructor(deps: AuditVerificationsDeps) {
    this.#deps = deps;
  }

  /** It goes on as its events are asked for, and ends with them. Throws `conflict` while another one runs. */
  start(): AsyncGenerator<AuditVerificationEvent, void, undefined> {
    if (this.#isRunning) throw new AppError("conflict", IS_RUNNING);
    return this.#events();
  }

  /** Ends the verification under way, and lets none begin. Idempotent. */
  stop(): void {
    this.#isStopping = true;
  }

  async *#events(): AsyncGenerator<AuditVerificationEvent, void, undefined> {
    if (this.#isRunning) yield { type: "error", error: IS_RUNNING };
    else {
      this.#isRunning = true;
      try {
        yield { type: "progress", records: 0 };
        yield* this.#verify();
      } catch (error) {
        const isExpected = isAppError(error);
        if (!isExpected) this.#deps.logger.error("Audit log could not be verified", error);
        yield { type: "error", error: isExpected ? error.text : IS_BROKEN };
      } finally {
        this.#isRunning = false;
      }
    }
    yield { type: "finished" };
  }

  async *#verify(): AsyncGenerator<AuditVerificationEvent, void, undefined> {
    const { clock, timer } = this.#deps;
    const turns = new Turns(clock, () => timer.sleep(0));
    const steps = verifyInSteps(this.#deps, { turns });
    for (;;) {
      await turns.next();
      if (this.#isStopping) throw new AppError("store_unavailable", IS_STOPPING);
      const step = await steps.next();
      yield step.done ? { type: "done", ...step.value } : { type: "progress", ...step.value };
      if (step.done) return;
    }
  }
}
