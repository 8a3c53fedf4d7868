// Records deletes by any program, as MongoDB has no triggers. One instance at a time reads the change stream with pre-images in pieces
// of 1,000 events. A piece's tombstones are committed with the place behind it and the recorder's id, so every event is recorded
// once. The commit raises the numbers that are places, so places follow the order of visibility. A key leaves no tombstone where its
// own transaction put it back, or where its row has a later time.
import { ObjectId } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { type CallLimit, START_CALLS } from "../../../ports/documents.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import { SharedWork } from "../../../ports/runtime/turns.ts";
import { makeCollections } from "../driver/collections.ts";
import { Deadline, retry, TimeUp } from "../driver/deadline.ts";
import { asAppErrors, isPassing } from "../driver/errors.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { OWN_DELETES, TOMBSTONES } from "../driver/tombstone-documents.ts";
import {
  areSame,
  DELETE_BARRIERS,
  DELETE_RECORDER,
  RECORDER_CALLS,
  RecorderReplaced,
  type RecorderState,
  RecorderStates,
} from "./recorder-state.ts";
import { keepPreImages, Recording } from "./recording.ts";

/** The pause before an instance tries again to become the recorder. */
const LOOK_EVERY_MS = 1_000;
const PAUSE_AFTER_FAILURE_MS = 250;
const STOP: CallLimit = { triesMs: 1_500, endMs: 1_500 };

const DELETE_COLLECTIONS = [TOMBSTONES, DELETE_RECORDER, DELETE_BARRIERS, OWN_DELETES];

export class DeleteRecorder {
  readonly #deps: StoreDeps;
  readonly #logger: Logger;
  readonly #states: RecorderStates;
  /** Calls during one pass share the next. */
  readonly #barrier = new SharedWork(() => this.#passBarrier());
  readonly #id = new ObjectId();
  #tables: ReadonlyMap<string, Table> = new Map();
  #recording: Recording | null = null;
  #work: Promise<void> | null = null;
  #isStopping = false;
  #wake: () => void = () => {};
  /** The last logged failure; empty after a success. */
  #toldProblem = "";

  constructor(deps: StoreDeps, logger: Logger) {
    this.#deps = deps;
    this.#logger = logger;
    this.#states = new RecorderStates(deps);
  }

  /** Records the deletes of tables with `deletes`, and stops recording those of other tables. */
  async prepare(tables: readonly Table[]): Promise<void> {
    const recorded = new Map(this.#tables);
    for (const table of tables) {
      if (table.deletes) recorded.set(table.name, table);
      else recorded.delete(table.name);
    }
    const deadline = new Deadline(this.#deps.clock, START_CALLS);
    await asAppErrors(retry(deadline, () => this.#configure(recorded)));
    if (!isSame(recorded, this.#tables)) {
      this.#tables = recorded;
      // The recording starts again with the present tables.
      this.#recording?.close();
      this.#wake();
    }
    if (recorded.size > 0) this.#work ??= this.#recordForever();
  }

  /** Resolves when all deletes before the call are recorded. Throws `store_unavailable` after 10 s, and where `table` is not recorded. */
  async caughtUp(table: Table): Promise<void> {
    const { tables } = await this.#recorded();
    if (tables[table.name]?.isOn) return;
    const message = `Deletes from table "${table.name}" are not recorded: another instance was started with a registry in which it has no "deletes"`;
    throw new AppError("store_unavailable", message);
  }

  /** As `caughtUp`, for all tables. */
  async settle(): Promise<void> {
    if (this.#tables.size > 0) await this.#recorded();
  }

  /** Leaves recording to another instance. Never fails. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    this.#recording?.close();
    if (this.#work === null) return;
    const deadline = new Deadline(this.#deps.clock, STOP);
    await deadline.race(this.#work).catch(() => {});
  }

  /** The state once all deletes before the call are recorded. D-7.6. */
  async #recorded(): Promise<RecorderState> {
    const deadline = new Deadline(this.#deps.clock, RECORDER_CALLS);
    try {
      return await deadline.race(this.#barrier.outcome());
    } catch (error) {
      if (!(error instanceof TimeUp)) throw error;
      const message = "The deletes made here until now were not recorded within 10 s: try again";
      throw new AppError("store_unavailable", message, { cause: error });
    }
  }

  /** A barrier is a write behind all deletes so far in the change stream. The recorder takes 15 to 30 ms to see it. */
  async #passBarrier(): Promise<RecorderState> {
    const deadline = new Deadline(this.#deps.clock, RECORDER_CALLS);
    const barrier = await this.#states.raiseBarrier();
    for (let tries = 0; ; tries++) {
      const state = await this.#states.read();
      if (state !== null && state.barrier >= barrier) return state;
      if (deadline.isOver()) throw new TimeUp();
      // The pause grows slowly, as a caller waits and the wait is hardly ever long.
      await deadline.pause(Math.floor(tries / 8));
    }
  }

  async #configure(tables: ReadonlyMap<string, Table>): Promise<void> {
    const { db } = this.#deps;
    // Another program may have dropped the database.
    await makeCollections(db, DELETE_COLLECTIONS);
    for (const name of tables.keys()) await keepPreImages(db, name);
    await this.#states.configure(tables);
  }

  async #recordForever(): Promise<void> {
    while (!this.#isStopping) {
      const tables = this.#tables;
      let pauseMs = LOOK_EVERY_MS;
      try {
        await this.#recordOnce(tables);
      } catch (error) {
        if (!this.#isStopping) this.#tell(error);
        pauseMs = PAUSE_AFTER_FAILURE_MS;
      }
      if (!this.#isStopping && tables === this.#tables) await this.#pause(pauseMs);
    }
    await this.#states.release(this.#id).catch(() => {});
  }

  /** Records until another instance does, or the tables change. */
  async #recordOnce(tables: ReadonlyMap<string, Table>): Promise<void> {
    const state = await this.#acquire(tables);
    if (state === null || this.#isStopping) return;
    const isWell = () => {
      this.#toldProblem = "";
    };
    const deps = { ...this.#deps, states: this.#states, logger: this.#logger, isWell };
    this.#recording = new Recording(deps, this.#id, tables);
    try {
      await this.#recording.run(state);
    } finally {
      this.#recording = null;
    }
  }

  async #acquire(tables: ReadonlyMap<string, Table>): Promise<RecorderState | null> {
    if (tables.size === 0) return null;
    const state = await this.#states.read();
    if (state === null || !areSame(state.tables, tables)) {
      // Instances with another registry started later; when they are gone, this registry counts again.
      if (state !== null && !(await this.#states.isAbandoned())) return null;
      await this.#configure(tables);
    }
    return await this.#states.acquire(this.#id, tables);
  }

  #tell(error: unknown): void {
    const cause = error instanceof AppError ? (error.cause ?? error) : error;
    const isNormal = cause instanceof RecorderReplaced || error instanceof TimeUp;
    if (isNormal || isPassing(cause)) return;
    const problem = String(cause);
    if (problem === this.#toldProblem) return;
    this.#toldProblem = problem;
    this.#logger.error("Deletes cannot be recorded; guarded pushes and runs fail meanwhile", error);
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, durationMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isSame(a: ReadonlyMap<string, Table>, b: ReadonlyMap<string, Table>): boolean {
  return a.size === b.size && [...a].every(([name, table]) => b.get(name) === table);
}
