// What must hold, checked without the code under test: by the stores' own rows and plain comparisons of texts.
import type { SyncDirection } from "../../src/domain/sync/run/run.ts";
import type { ColumnValue, Row } from "../../src/domain/sync/table/table.ts";
import type { World } from "./world.ts";

/** Looks after every commit whether a marker has passed a row that has not arrived at the other end. */
export class MarkerCheck {
  readonly #world: World;
  readonly #directions: readonly SyncDirection[];
  /** Markers as they were when all rows before them were found to have arrived. */
  readonly #checked = new Map<SyncDirection, string>();

  constructor(world: World) {
    this.#world = world;
    const { direction } = world.scenario;
    this.#directions = direction === "both" ? ["pull", "push"] : [direction];
  }

  /** Call it with the rows that a commit put at either end; null when any row may be concerned. Throws. */
  afterCommit(rows: readonly Row[] | null): void {
    const { table, here, there, kept } = this.#world;
    if (table.timestampColumn === null) return;
    for (const direction of this.#directions) {
      const marker = kept.marker(`sync_last_${direction}_items`);
      const from = direction === "pull" ? there : here;
      const isMoved = rows === null || this.#checked.get(direction) !== marker;
      const concerned = isMoved
        ? from.sortedRows(table)
        : rows.map((row) => from.rowByKey(table, row)).filter((row) => row !== undefined);
      for (const row of concerned) this.#check(direction, row, marker);
      this.#checked.set(direction, marker);
    }
  }

  #check(direction: SyncDirection, row: Row, marker: string): void {
    const { table, kept, here, there } = this.#world;
    const time = timeOf(row, table.timestampColumn ?? "");
    if (time === "" || time >= comparableTime(marker) || !isLatest(this.#world, direction, row))
      return;
    const arrived = (direction === "pull" ? here : there).rowByKey(table, row);
    if (arrived !== undefined && contentOf(this.#world, arrived) === contentOf(this.#world, row))
      return;
    const key = Object.fromEntries(table.keyColumns.map(({ name }) => [name, row[name] ?? null]));
    if (kept.hasRejected(direction, key)) return;
    const passed = `${direction} marker ${marker} has passed ${contentOf(this.#world, row)}`;
    throw new Error(`${passed}; the other end has ${arrived && contentOf(this.#world, arrived)}`);
  }
}

/** True for the newest version of a row that belongs to the end it is read from. Others may be on their way back. */
function isLatest(world: World, direction: SyncDirection, row: Row): boolean {
  const writers = direction === "pull" ? world.writers.there : world.writers.here;
  return !world.scenario.isShared && writers.committed.get(ownKey(world, row)) === row["v"];
}

/** Throws when the ends differ, or when either lacks what was written last. */
export function checkEnds(world: World): void {
  const here = world.here.sortedRows(world.table).map((row) => contentOf(world, row));
  const there = world.there.sortedRows(world.table).map((row) => contentOf(world, row));
  const onlyHere = here.filter((row) => !there.includes(row));
  const onlyThere = there.filter((row) => !here.includes(row));
  if (onlyHere.length + onlyThere.length > 0 || here.length !== there.length) {
    throw new Error(`Only here: ${onlyHere.join()}; only there: ${onlyThere.join()}`);
  }
  if (world.kept.rejected().length > 0) throw new Error("Refused records are left");
  const { direction, entry, isShared, isCoarse } = world.scenario;
  // Two versions of one second are not told apart by a rule that compares seconds.
  const isVersioned = ("conflict" in entry && !isCoarse) || world.table.updateColumns.length === 0;
  // Without a rule that compares versions, a row on its way back may replace a newer one.
  if (isShared || (direction === "both" && !isVersioned)) return;
  const versions = new Map(
    world.here.sortedRows(world.table).map((row) => [ownKey(world, row), row["v"]]),
  );
  for (const writers of [world.writers.here, world.writers.there]) {
    for (const [key, version] of writers.committed) {
      if (versions.get(key) !== version) throw new Error(`${key} should be ${version}`);
    }
  }
}

/** The name that the writers give a row. */
function ownKey({ table }: World, row: Row): string {
  return table.keyColumns.map(({ name }) => row[name]).join(":");
}

/** Rows are never changed, so what has been read of one stays true. */
const contentByRow = new WeakMap<Row, string>();
const timeByRow = new WeakMap<Row, string>();

/** What both ends must agree on. */
function contentOf({ table }: World, row: Row): string {
  const known = contentByRow.get(row);
  if (known !== undefined) return known;
  const names = table.pageColumns.map(({ name }) => name).filter((name) => name !== "id");
  const content = JSON.stringify(names.map((name) => row[name] ?? null));
  contentByRow.set(row, content);
  return content;
}

function timeOf(row: Row, column: string): string {
  const time = timeByRow.get(row) ?? comparableTime(row[column]);
  timeByRow.set(row, time);
  return time;
}

/** A text that sorts by time, of a time however it is written; empty for none. */
function comparableTime(value: ColumnValue | undefined): string {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?Z?)?$/.exec(`${value ?? ""}`);
  if (match === null) return "";
  const [, date, time = "00:00:00", fraction = ""] = match;
  return `${date}T${time}.${fraction.padEnd(6, "0")}`;
}
