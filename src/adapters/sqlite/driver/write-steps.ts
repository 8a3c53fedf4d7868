// A push of 300,000 records is one commit that would hold the event loop for seconds: each step has a turn for others every 12
// ms, while a second connection reads the state before. The commit itself cannot be cut, about a millisecond a megabyte of log.
import { type Steps, Turns } from "../../../ports/runtime/turns.ts";
import type { Pause } from "./run-body.ts";

/** Steps after which a write is a long one, and the time of one step that makes it so: that of a row of tens of megabytes. */
const LONG_WRITE_STEPS = 20_000;
const LONG_STEP_MS = 100;

/** What the steps of a write need of their database. */
interface StepTools {
  /** Called each time that the write turns out to be a long one. */
  beginLongWrite(): Promise<void>;
  /** Throws once the database is closed. */
  assertOpen(): void;
}

/** Does the steps of a write, with turns for others in between. */
export class WriteSteps {
  readonly #clock: { monotonicMs(): number; nextTurn(): Promise<void> };
  readonly #tools: StepTools;

  constructor(clock: { monotonicMs(): number; nextTurn(): Promise<void> }, tools: StepTools) {
    this.#clock = clock;
    this.#tools = tools;
  }

  /** Gives what the last step returns. */
  async run<T>(steps: Steps<T>, pause: Pause): Promise<T> {
    const turns = new Turns(this.#clock, () => this.#clock.nextTurn());
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      const isMuch = ++count % LONG_WRITE_STEPS === 0 || turns.elapsedMs >= LONG_STEP_MS;
      if (!isMuch && !turns.isOver) continue;
      await pause(async () => {
        if (isMuch) await this.#tools.beginLongWrite();
        await turns.next();
        this.#tools.assertOpen();
      });
    }
    return step.value;
  }
}
