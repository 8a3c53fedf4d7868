// Waits until the recorder has seen all deletes so far: a barrier is a write behind them in the change stream. It takes 15 to 30 ms.
import type { Collection } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import { SharedWork } from "../../../ports/runtime/turns.ts";
import { Deadline, TimeUp } from "../driver/deadline.ts";
import { type StoreDeps, writeOne } from "../driver/operations.ts";
import { DELETE_BARRIERS, type RecorderState, RecorderStates } from "./recorder-state.ts";

const BARRIER_ID = "last";
/** Longest wait of a caller. D-7.6. */
const WAIT: CallLimit = { triesMs: 10_000, endMs: 10_000 };

interface BarrierDocument {
  readonly _id: string;
  readonly number: number;
}

export class DeleteBarrier {
  readonly #deps: StoreDeps;
  readonly #states: RecorderStates;
  readonly #barriers: Collection<BarrierDocument>;
  readonly #passing = new SharedWork(() => this.#passNew());

  constructor(deps: StoreDeps) {
    this.#deps = { ...deps, callLimit: WAIT };
    this.#states = new RecorderStates(deps);
    this.#barriers = deps.db.collection(DELETE_BARRIERS.name);
  }

  /**
   * Resolves to the recorder's state once all deletes before the call are recorded. Calls during one barrier share the next. Throws
   * `store_unavailable` after 10 s.
   */
  async pass(): Promise<RecorderState> {
    const deadline = new Deadline(this.#deps.clock, WAIT);
    try {
      return await deadline.race(this.#passing.outcome());
    } catch (error) {
      if (!(error instanceof TimeUp)) throw error;
      const message = "The deletes made here until now were not recorded within 10 s: try again";
      throw new AppError("store_unavailable", message, { cause: error });
    }
  }

  async #passNew(): Promise<RecorderState> {
    const deadline = new Deadline(this.#deps.clock, WAIT);
    const raised = await writeOne(this.#deps, (options) =>
      this.#barriers.findOneAndUpdate(
        { _id: BARRIER_ID },
        { $inc: { number: 1 } },
        { ...options, upsert: true, returnDocument: "after" },
      ),
    );
    if (raised === null) throw new Error("An upsert gave no document back");
    for (let tries = 0; ; tries++) {
      const state = await this.#states.read();
      if (state !== null && state.barrier >= raised.number) return state;
      if (deadline.isOver()) throw new TimeUp();
      // The pause grows slowly, as a caller waits and the wait is hardly ever long.
      await deadline.pause(Math.floor(tries / 8));
    }
  }
}
