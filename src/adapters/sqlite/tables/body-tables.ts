import { AppError } from "../../../domain/shared/errors.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import type { SqliteBody } from "../driver/run-body.ts";
import { RowBinder } from "./row-binder.ts";
import { changeRowsBy, removeRowsBy } from "./rows-by-value.ts";
import { TableWrite } from "./table-write.ts";

/** Triggers raise versions, and one body writes at a time. */
export class BodyTables implements TableWrites {
  readonly #body: SqliteBody;
  readonly #binders: WeakMap<Table, RowBinder>;

  /** `binders` may hold those of earlier bodies. */
  constructor(body: SqliteBody, binders: WeakMap<Table, RowBinder>) {
    this.#body = body;
    this.#binders = binders;
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const { conflict = table.conflict, deleted = [], stamps } = rule;
    const makeBinder = () => new RowBinder(table, this.#body.foreignTables);
    const binder = this.#binders.getOrInsertComputed(table, makeBinder);
    this.#body.beginRows();
    const write = new TableWrite(this.#body, table, { conflict, stamps }, binder);
    await this.#body.inSteps(write.all(deleted, writes));
    const { written } = write;
    if (written.changed + written.deleted > 0) this.#body.noteChanged(table.name);
    return written;
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<void> {
    this.#body.beginRows();
    this.#body.noteChanged(table.name);
    if (fields === null) return removeRowsBy(this.#body, table, [column, value]);
    try {
      changeRowsBy(this.#body, table, [column, value], fields);
    } catch (error) {
      const message = this.#body.recordReason(error);
      throw message === null ? error : new AppError("invalid_request", message);
    }
  }

  async excludePushes(): Promise<void> {}
}
