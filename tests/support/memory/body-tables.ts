// The rows that one body reads and writes: tried on copies of one moment's tables, done anew in the commit.
import { isOfPeople, personOf } from "../../../src/domain/sync/people/owned-row.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteRule,
  Written,
} from "../../../src/ports/tables/table-writes.ts";
import type { MemoryTables, TableCall, TablesMoment } from "./tables.ts";

interface RowsQuery {
  readonly rowsOf: Table;
  readonly where: readonly [column: string, values: readonly string[]];
}

export class MemoryBodyTables implements TableWrites {
  readonly #tables: MemoryTables;
  readonly #moment: () => TablesMoment;
  readonly #calls: TableCall[] = [];
  /** What the calls gave, as text. */
  readonly #told: string[] = [];
  /** What was read, after how many calls, and the answer as text. */
  readonly #read: (readonly [query: RowsQuery, calls: number, answer: string])[] = [];
  excludesPushes = false;

  constructor(tables: MemoryTables, moment: () => TablesMoment) {
    this.#tables = tables;
    this.#moment = moment;
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    return this.#call({ table, writes, rule }) as Written;
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<number> {
    return this.#call({ table, where: [column, value], fields }) as number;
  }

  excludePushes(): void {
    this.excludesPushes = true;
  }

  rowsOf(query: RowsQuery): readonly Row[] {
    const answer = this.#answer(query, this.#moment(), this.#calls);
    this.#read.push([query, this.#calls.length, JSON.stringify(answer)]);
    return answer;
  }

  /** People whose rows are written. */
  get people(): readonly string[] {
    return this.#calls.flatMap((call) => {
      if (!("writes" in call) || !isOfPeople(call.table)) return [];
      const rows = [
        ...call.writes.map(({ row }) => row),
        ...(call.rule.deleted ?? []).map(({ key }) => key),
      ];
      return rows.map(personOf).filter((name) => name !== null);
    });
  }

  get isIdle(): boolean {
    return this.#calls.length === 0;
  }

  /** True when the body would have read and done the same now. */
  isStillSo(): boolean {
    if (this.#calls.length === 0) return true;
    const now = this.#tables.moment();
    if (this.#isUntouched(now)) return true;
    const isSame = this.#read.every(
      ([query, calls, answer]) =>
        JSON.stringify(this.#answer(query, now, this.#calls.slice(0, calls))) === answer,
    );
    const { outcomes } = this.#tables.attempt(now, this.#calls);
    return isSame && outcomes.every((outcome, i) => textOf(outcome) === this.#told[i]);
  }

  /** True when nobody has changed a table of this body; what else changes tombstones is not seen. */
  #isUntouched(now: TablesMoment): boolean {
    const began = this.#moment();
    const tables = [
      ...this.#calls.map(({ table }) => table),
      ...this.#read.map(([query]) => query.rowsOf),
    ];
    return tables.every(({ name, deletes }) => !deletes && now.get(name) === began.get(name));
  }

  apply(): void {
    if (this.#calls.length > 0) this.#tables.apply(this.#calls);
  }

  #call(call: TableCall): Written | number {
    this.#calls.push(call);
    const { outcomes } = this.#tables.attempt(this.#moment(), this.#calls);
    const outcome = outcomes.at(-1) as Written | number;
    this.#told.push(textOf(outcome));
    return outcome;
  }

  #answer(
    { rowsOf, where: [column, values] }: RowsQuery,
    moment: TablesMoment,
    calls: readonly TableCall[],
  ) {
    const { tables } = this.#tables.attempt(moment, calls);
    if (!rowsOf.columns.some(({ name }) => name === column)) return [];
    const rows = [...(tables.get(rowsOf.name)?.rows.values() ?? [])];
    return rows
      .filter((row) => values.some((value) => row[column] === value))
      .map((row) => wholeRow(rowsOf, row));
  }
}

/** Without the time. */
function textOf(outcome: Written | number): string {
  return JSON.stringify(typeof outcome === "number" ? outcome : { ...outcome, visibleMs: 0 });
}

function wholeRow(table: Table, row: Row): Row {
  return Object.fromEntries(table.columns.map(({ name }) => [name, row[name] ?? null]));
}
