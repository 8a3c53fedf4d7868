import { type JsonValue, parseJson } from "../../domain/shared/json.ts";
import { type JsonLimits, JsonReader } from "../../domain/shared/json-reader.ts";
import { TURN_MS } from "../../domain/shared/limits.ts";
import type { Clock } from "./runtime.ts";

/** Work in small steps, between which others may have their turn. Its result is that of the last step. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Shares the event loop: long work asks after every small step whether others are to have their turn. D-7.9. */
export class Turns {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #pause: () => Promise<void>;
  #beganMs: number;

  /** The first turn begins now. `pause` resolves when others have had theirs. */
  constructor(clock: Pick<Clock, "monotonicMs">, pause: () => Promise<void>) {
    this.#clock = clock;
    this.#pause = pause;
    this.#beganMs = clock.monotonicMs();
  }

  get elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#beganMs;
  }

  /** True when the turn has taken its time. */
  get isOver(): boolean {
    return this.elapsedMs >= TURN_MS;
  }

  /** Lets others have their turn, and begins the next one. */
  async next(): Promise<void> {
    await this.#pause();
    this.#beganMs = this.#clock.monotonicMs();
  }

  /** Does all steps, with turns for others in between. */
  async run<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next();
    for (; !step.done; step = steps.next()) if (this.isOver) await this.next();
    return step.value;
  }
}

/** Bytes that the runtime's parser reads in a few milliseconds. */
const WHOLE_BYTES = 1024 * 1024;
const PIECE_BYTES = 128 * 1024;

/** As `parseJson`, with turns for others where it is large. Throws also `TypeError` for what is not UTF-8. D-7.9. */
export async function readJson(
  bytes: Uint8Array,
  turns: Turns,
  limits: JsonLimits,
): Promise<JsonValue> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  if (bytes.length <= WHOLE_BYTES) return parseJson(decoder.decode(bytes), limits);
  const reader = new JsonReader(limits);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (turns.isOver) await turns.next();
    reader.read(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }));
  }
  reader.read(decoder.decode());
  return reader.finish();
}

export interface PlaceInQueue {
  /** Resolves once all before have left. */
  readonly turn: Promise<void>;
  leave(): void;
}

/**
 * Runs bodies of one process that would meet each other one after the other. Without it, of 30 changes of one document at once each
 * ran six times on MongoDB, and lookups beside 30 consents a second fell to a ninth.
 */
export class BodyQueues {
  /** The end of the last place, by the name of the bodies. */
  readonly #last = new Map<string, Promise<void>>();

  /** Gives the place at the end of the queue of a name. */
  enter(name: string): PlaceInQueue {
    const turn = this.#last.get(name) ?? Promise.resolve();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    this.#last.set(
      name,
      turn.then(() => left),
    );
    return { turn, leave };
  }
}

/** Work for many callers at once: those who come while it is under way share its next round. */
export class SharedWork<Outcome> {
  readonly #work: () => Promise<Outcome>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** The round that has not begun. */
  #next: Promise<Outcome> | null = null;

  constructor(work: () => Promise<Outcome>) {
    this.#work = work;
  }

  /** Settles as a round of the work that begins after the call. */
  outcome(): Promise<Outcome> {
    this.#next ??= this.#underWay
      .catch(() => {})
      .then(() => {
        this.#next = null;
        const begun = this.#work();
        this.#underWay = begun;
        return begun;
      });
    return this.#next;
  }
}
