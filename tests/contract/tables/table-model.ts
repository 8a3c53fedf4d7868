// What the contract says, in the plainest code: the rows in a map, sorted anew for every page.

import type { Column, ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { CountedPage, PageQuery } from "../../support/rows/read-rows.ts";

/** The rows of one table. Shares no code with the service. */
export class TableModel {
  readonly #table: Table;
  readonly #rows = new Map<string, Row>();

  constructor(table: Table) {
    this.#table = table;
  }

  /** As `TableWrites.write()`. */
  write(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = JSON.stringify(this.#table.keyColumns.map(({ name }) => row[name]));
      const stored = this.#rows.get(key);
      if (stored === undefined) this.#rows.set(key, this.#inserted(row));
      else if (!this.#isOlder(row, stored)) this.#rows.set(key, this.#updated(stored, row));
    }
  }

  /** As `readPage(TableStore, )`. */
  page({ sinceTime, offsetRows, limitRows }: PageQuery): CountedPage {
    const isEvery = sinceTime === null || this.#table.timestampColumn === null;
    const rows = [...this.#rows.values()]
      .filter((row) => isEvery || this.#time(row) >= sortableTime(sinceTime))
      .sort((a, b) => comparePlaces(this.#table, a, b));
    return {
      rows: rows.slice(offsetRows, offsetRows + limitRows).map((row) => this.#shown(row)),
      totalRows: rows.length,
    };
  }

  #inserted(row: Row): Row {
    const empty = Object.fromEntries(this.#table.columns.map(({ name }) => [name, null]));
    const isNumbered = this.#table.columns.length > this.#table.pushColumns.length;
    return { ...empty, ...row, ...(isNumbered ? { id: this.#rows.size + 1 } : {}) };
  }

  #updated(stored: Row, row: Row): Row {
    const names = this.#table.updateColumns.map(({ name }) => name);
    const present = names.filter((name) => name in row);
    return { ...stored, ...Object.fromEntries(present.map((name) => [name, row[name] ?? null])) };
  }

  /** Times more than 5 minutes ahead come before all others but none. D-7.1. */
  #isOlder(row: Row, stored: Row): boolean {
    const { conflict, updateColumns, timestampColumn } = this.#table;
    const isGuarded =
      conflict === "newer" && updateColumns.some(({ name }) => name === timestampColumn);
    const limit = sortableTime(new Date(Date.now() + 300_000).toISOString());
    const [a, b] = [row, stored].map((version) => {
      const time = this.#time(version);
      return time > limit ? `0 ${time}` : time === "" ? "" : `1 ${time}`;
    });
    return isGuarded && String(a) < String(b);
  }

  #shown(row: Row): Row {
    return Object.fromEntries(this.#table.pageColumns.map(({ name }) => [name, row[name] ?? null]));
  }

  /** A text that sorts by time; empty for null and unparseable timestamps. */
  #time(row: Row): string {
    return timeOf(this.#table, row);
  }
}

/** The order of a table: negative, 0 or positive. */
export function comparePlaces(table: Table, a: Row, b: Row): number {
  const [timeOfA, timeOfB] = [timeOf(table, a), timeOf(table, b)];
  if (timeOfA !== timeOfB) return timeOfA < timeOfB ? -1 : 1;
  return compareRowKeys(table, a, b);
}

/** The order of a table's upsert key: negative, 0 or positive. */
export function compareRowKeys(table: Table, a: Row, b: Row): number {
  for (const column of table.keyColumns) {
    const order = compareKeys(column, a[column.name] ?? null, b[column.name] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function timeOf(table: Table, row: Row): string {
  const name = table.timestampColumn;
  return name === null ? "" : sortableTime(row[name] ?? null);
}

/** Years to microseconds of a date or time of the calendar; empty for anything else. */
function sortableTime(value: ColumnValue): string {
  const text = typeof value === "string" ? value : "";
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d{3,6}))?Z)?$/.exec(text);
  if (match === null) return "";
  const [, date, time = "00:00:00", fraction = ""] = match;
  const seconds = `${date}T${time}`;
  const atMs = Date.parse(`${seconds}Z`);
  const isReal = !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(seconds);
  return isReal ? `${seconds}.${fraction.padEnd(6, "0")}` : "";
}

function compareKeys(column: Column, a: ColumnValue, b: ColumnValue): number {
  const isOwn = [hasOwnType(column, a), hasOwnType(column, b)];
  if (isOwn[0] !== isOwn[1]) return isOwn[0] ? -1 : 1;
  if (!isOwn[0]) return compareBytes(JSON.stringify(a), JSON.stringify(b));
  if (column.type === "integer" || column.type === "bigint") {
    const difference = BigInt(digits(a)) - BigInt(digits(b));
    return difference === 0n ? 0 : difference < 0n ? -1 : 1;
  }
  if (column.type === "boolean") return Number(a) - Number(b);
  if (column.type === "datetime") return compareBytes(sortableTime(a), sortableTime(b));
  return compareBytes(String(a), String(b));
}

function hasOwnType({ type }: Column, value: ColumnValue): boolean {
  if (type === "boolean") return typeof value === "boolean";
  if (type === "integer") return typeof value !== "string" && /^-?\d+$/.test(digits(value));
  if (type === "date" || type === "datetime") {
    return sortableTime(value) !== "" && (type === "date") === (String(value).length === 10);
  }
  return typeof value === "string";
}

/** The text of a number or of digits, without quotes. */
function digits(value: ColumnValue): string {
  return JSON.stringify(value).replaceAll('"', "");
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
