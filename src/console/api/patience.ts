import type { Operations } from "./interface.ts";
import { RequestError } from "./request-error.ts";

/** What a service takes at most to say something, also while it is busy. */
const USUAL_MS = 30_000;
/** What waits for other work before it is answered. */
const LONG_MS = 180_000;
const LONG: ReadonlySet<keyof Operations> = new Set<keyof Operations>([
  "put /api/v1/sync/tables/{name}",
  "post /api/v1/sync/infer",
  "post /api/v1/sync/import/{table_name}",
  "post /api/v1/sync/runs/{run_id}/cancel",
  "post /api/v1/sync/rejected/{id}/retry",
]);

/** How long the console waits for the reply to one request: it gives up once the service has said nothing for so long. */
export class Patience {
  /** Aborted when it is over, and when nobody needs the reply any more. */
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #ms: number;
  #timer: number | undefined;

  constructor(operation: keyof Operations, unneeded: AbortSignal | undefined) {
    const own = this.#over.signal;
    this.signal = unneeded === undefined ? own : AbortSignal.any([own, unneeded]);
    this.#ms = LONG.has(operation) ? LONG_MS : USUAL_MS;
    this.renew();
  }

  /** The service has said something. */
  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#over.abort(unanswered(this.#ms)), this.#ms);
  }

  /** All of the reply is there, or none will come. */
  end(): void {
    clearTimeout(this.#timer);
  }
}

function unanswered(ms: number): RequestError {
  return new RequestError(0, {
    code: "unreachable",
    detail: `The service has not answered for ${ms / 1_000} seconds`,
    hint: "Look whether it was done all the same, before you try again",
  });
}
