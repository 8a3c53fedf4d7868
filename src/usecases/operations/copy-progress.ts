import type { CopyJob, CopyProgress } from "../../ports/copies/store-copies.ts";

/** Tells how far a job has come that handles each item several times, and ends it when it is to stop. */
export class ItemProgress {
  readonly #job: CopyJob;
  readonly #items: number;
  readonly #times: number;
  #done = 0;

  constructor(job: CopyJob, items: number, times: number) {
    this.#job = job;
    this.#items = items;
    this.#times = times;
  }

  /** Throws the reason to stop. */
  add(items: number): void {
    const { stop, onProgress } = this.#job;
    stop?.throwIfAborted();
    this.#done += items;
    const part = Math.min(1, this.#done / Math.max(1, this.#times * this.#items));
    onProgress?.({ rows: Math.min(this.#done, this.#items), part });
  }
}

/** A job that is a part of another one, from one part of it to another. */
export function partOf(job: CopyJob, from: number, to: number): CopyJob {
  const { onProgress, ...rest } = job;
  if (onProgress === undefined) return job;
  const scaled = ({ rows, part }: CopyProgress) =>
    onProgress({ rows, part: part === null ? null : from + part * (to - from) });
  return { ...rest, onProgress: scaled };
}
