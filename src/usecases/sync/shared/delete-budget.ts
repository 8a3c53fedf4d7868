import { AppError } from "../../../domain/shared/errors.ts";
import type { Table } from "../../../domain/sync/table/table.ts";

/** The rows of a table that one run may delete at an end. D-7.6. */
export class DeleteBudget {
  readonly #table: Table;
  readonly #where: "here" | "there";
  readonly #limit: number;
  #done = 0;

  constructor(table: Table, where: "here" | "there", limit: number) {
    this.#table = table;
    this.#where = where;
    this.#limit = limit;
  }

  /** True when so many more are too many. */
  isExceededBy(count: number): boolean {
    return this.#done + count > this.#limit;
  }

  /** Counts rows that were deleted. */
  spend(count: number): void {
    this.#done += count;
  }

  /** What the user is told of `count` deletes to come that are too many. */
  problem(count: number): AppError {
    const total = this.#done + count;
    const done = this.#done === 0 ? "none was" : `${this.#done} were`;
    const text = `${total} rows of "${this.#table.name}" would be deleted ${this.#where}, at most ${this.#limit} may be; ${done}`;
    const hint = `If that is right, allow them with --max-deletes ${total} (max_deletes)`;
    return new AppError("sync_failed", text, { hint });
  }
}
