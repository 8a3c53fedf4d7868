import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import type { SqliteBody } from "../driver/run-body.ts";
import type { RowBinders } from "./row-binder.ts";
import { changeRowsBy, removeRowsBy } from "./rows-by-value.ts";
import { TableWrite } from "./table-write.ts";

/** What is known of a person, within the body; null when nothing is. */
export type FactsOf = (username: string) => NameFacts | null;

/** The rows that one body writes. Triggers raise versions, and only one body writes at a time. */
export class BodyTables implements TableWrites {
  readonly #body: SqliteBody;
  readonly #binders: RowBinders;
  readonly #factsOf: FactsOf;

  constructor(body: SqliteBody, binders: RowBinders, factsOf: FactsOf) {
    this.#body = body;
    this.#binders = binders;
    this.#factsOf = factsOf;
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const { conflict = table.conflict, deleted = [] } = rule;
    const binder = this.#binders.of(table);
    this.#body.beginRows();
    const write = new TableWrite(this.#body, table, { conflict });
    const records = await this.#body.inSteps(binder.bindAll(writes));
    await this.#body.inSteps(write.all({ deleted, records }));
    const { written } = write;
    if (written.changed + written.deleted > 0) this.#body.noteChanged(table.name);
    return written;
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<number> {
    this.#body.beginRows();
    this.#body.noteChanged(table.name);
    if (fields === null) return removeRowsBy(this.#body, table, [column, value]);
    return changeRowsBy(this.#body, table, [column, value], fields);
  }

  async factsOf(names: readonly string[]): Promise<ReadonlyMap<string, NameFacts>> {
    const facts = names.map((name) => [name, this.#factsOf(name)] as const);
    return new Map(facts.filter((known): known is [string, NameFacts] => known[1] !== null));
  }

  excludePushes(): void {}
}
