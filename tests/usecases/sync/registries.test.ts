// Two ends whose registries differ, or have changed since the last run.
import { describe, expect, test } from "bun:test";
import type { RunRequest } from "../../../src/domain/sync/run/run.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import type { MemoryTables } from "../../support/memory/tables.ts";
import {
  BY_TIME,
  type FinishedRun,
  foreign,
  makeTwoEnds,
  register,
  runOf,
  type TwoEnds,
} from "./two-ends.ts";

const T1 = "2026-03-01T10:00:00Z";
const T2 = "2026-03-01T10:30:00Z";
const WITH_NOTES: TableEntry = {
  ...BY_TIME,
  columns: { ...BY_TIME.columns, notes: { type: "text" } },
};
const columns = (changes: TableEntry["columns"]): TableEntry => ({
  ...BY_TIME,
  columns: { ...BY_TIME.columns, ...changes },
});

async function endsWith(here: TableEntry, there: TableEntry): Promise<TwoEnds> {
  const ends = await makeTwoEnds();
  await register(ends, "here", here);
  await register(ends, "there", there);
  return ends;
}

async function foreignEnds(here: TableEntry, there: TableEntry): Promise<TwoEnds> {
  const ends = await makeTwoEnds(foreign());
  await register(ends, "here", here);
  await register(ends, "there", there);
  return ends;
}

function put(ends: TwoEnds, end: "here" | "there", ...rows: readonly Row[]): void {
  for (const row of rows) ends[end].writeOwn(ends.registries[end].get("items")!, row);
}

function rows(ends: TwoEnds, end: "here" | "there"): readonly Row[] {
  const storage: MemoryTables = ends[end];
  return storage
    .sortedRows(ends.registries[end].get("items")!)
    .toSorted((a, b) => (String(a["k"]) < String(b["k"]) ? -1 : 1));
}

const moved = ({ requests }: TwoEnds) =>
  requests.filter(({ kind }) => kind === "push" || kind === "pull").map(({ kind }) => kind);

const errorsOf = ({ events }: FinishedRun) =>
  events.flatMap((event) => (event.type === "error" ? [`${event.direction}: ${event.error}`] : []));

async function directions(ends: TwoEnds, request: Partial<RunRequest>) {
  return (await runOf(ends, request)).events.flatMap((event) =>
    event.type === "done" ? [event.direction] : [],
  );
}

describe("registries that differ", () => {
  test("D-7.3 another timestamp column ends the table in both directions", async () => {
    const ends = await endsWith(BY_TIME, { ...BY_TIME, timestamp_column: null });
    put(ends, "there", { k: "b", v: "1", at: T1 });
    const ended = await runOf(ends, { direction: "both" });
    expect(ended.run).toMatchObject({ status: "failed", totalPulled: 0 });
    expect(errorsOf(ended)).toEqual([
      'push: Table "items" has the timestamp column "at" here and none there; make timestamp_column equal in both registries',
    ]);
    expect(moved(ends)).toEqual([]);
  });

  test.each([
    ["of another type", columns({ v: { type: "json" } }), '"v" is text here and json there'],
    ["that is only there", WITH_NOTES, '"notes" is only there and would be emptied'],
  ])("D-7.3 a column %s ends the push, and with both it is still pulled", async (_, there, why) => {
    const ends = await endsWith(BY_TIME, there);
    put(ends, "here", { k: "a", v: "1", at: T1 });
    const notes = why.includes("notes") ? { notes: "kept" } : {};
    put(ends, "there", { k: "a", v: "0", at: "2026-03-01T09:00:00Z", ...notes });
    put(ends, "there", { k: "b", v: "1", at: T1, ...notes });
    const text = `push: A push of "items" would do harm: ${why}; make the columns equal in both registries`;
    const before = rows(ends, "there");
    const pushed = await runOf(ends, { direction: "push" });
    expect([pushed.run.status, errorsOf(pushed)]).toEqual(["failed", [text]]);
    expect(moved(ends)).toEqual([]);
    const both = await runOf(ends, { direction: "both" });
    expect([both.run.status, errorsOf(both)]).toEqual(["failed", [text]]);
    expect(both.run.tables["items"]).toMatchObject({ pushed: 0, pulled: 2 });
    expect(rows(ends, "there")).toEqual(before);
    expect(rows(ends, "here").map(({ k, v }) => [k, v])).toEqual([
      ["a", "1"],
      ["b", "1"],
    ]);
    const pulled = await runOf(ends, { direction: "pull" });
    expect(pulled.run.status).toBe("success");
  });

  test.each([
    [60, 600],
    [600, 600],
    [600, 60],
  ])(
    "D-7.3 of the lags %i here and %i there markers allow the greater one",
    async (here, there) => {
      const lagging = (seconds: number) => ({ ...BY_TIME, lag_seconds: seconds });
      const ends = await endsWith(lagging(here), lagging(there));
      put(ends, "here", { k: "a", v: "1", at: "2026-03-01T11:58:00Z" });
      await runOf(ends, { direction: "both" });
      expect(ends.kept.marker("sync_last_push_items")).toBe("2026-03-01T11:50:00Z");
      expect(ends.kept.marker("sync_last_pull_items")).toBe("2026-03-01T11:50:00Z");
    },
  );

  test("D-12.3 markers allow nothing where the source says that it needs nothing", async () => {
    const ends = await endsWith(BY_TIME, { ...BY_TIME, lag_seconds: 0 });
    put(ends, "there", { k: "a", v: "1", at: "2026-03-01T11:59:30Z" });
    await runOf(ends, { direction: "both" });
    expect(ends.kept.marker("sync_last_pull_items")).toBe("2026-03-01T11:59:30Z");
    await runOf(ends, { direction: "push" });
    expect(ends.kept.marker("sync_last_push_items")).toBe("2026-03-01T11:59:00Z");
  });

  test("D-7.3 a dry run tells what ends a run", async () => {
    const ends = await endsWith(BY_TIME, WITH_NOTES);
    put(ends, "there", { k: "b", v: "1", at: T1, notes: "x" });
    const dry = await runOf(ends, { direction: "both", isDryRun: true });
    expect(dry.run).toMatchObject({ status: "failed", totalPulled: 1 });
    expect(dry.error?.text).toContain('"notes" is only there');
  });
});

describe("a remote without the extension", () => {
  const LACKS =
    "The remote does not know all that this service does: newer rows there are looked for before each push; " +
    "registries are not compared and late rows there not noticed; deletes do not travel";

  test("D-7.3.2 a field that is no column here ends the push, unless remote_only lists it", async () => {
    const ends = await foreignEnds(BY_TIME, WITH_NOTES);
    put(ends, "here", { k: "a", v: "1", at: T1 });
    put(ends, "there", { k: "b", v: "1", at: T1, notes: "kept" });
    const both = await runOf(ends, { direction: "both" });
    expect(errorsOf(both)).toEqual([
      'push: A push of "items" would do harm: "notes" is only there and would be emptied; send it too, or list it in remote_only',
    ]);
    expect(both.run.tables["items"]).toMatchObject({ pushed: 0, pulled: 1 });
    await register(ends, "here", { ...BY_TIME, remote_only: ["notes"] });
    const pushed = await runOf(ends, { direction: "push" });
    expect([pushed.run.status, errorsOf(pushed)]).toEqual(["success", []]);
    expect(rows(ends, "there").map(({ k }) => k)).toEqual(["a", "b"]);
  });

  test("D-7.3.2 types are not compared, nothing is left out, and what cannot be had is said once per run", async () => {
    const ends = await foreignEnds(WITH_NOTES, columns({ v: { type: "json" } }));
    const others = { ...ends, deps: { ...ends.deps } };
    put(ends, "here", { k: "a", v: "1", at: T1, notes: "x" });
    const { run } = await runOf(others, { direction: "both" });
    expect([run.status, run.tables["items"]?.warnings]).toEqual(["success", [LACKS]]);
    expect(ends.requests.filter(({ records = [] }) => records.length > 0)).toMatchObject([
      { kind: "push", records: [{ k: "a", v: "1", at: T1, notes: "x" }] },
    ]);
    const said = ends.logger.lines.filter(({ message }) => message === LACKS);
    expect(said).toMatchObject([{ level: "info" }]);
  });
});

describe("registries that change between runs", () => {
  /** Both ends had been equal without `notes`; then the remote got it, and rows with it. */
  async function withNotesThere(): Promise<TwoEnds> {
    const ends = await endsWith(BY_TIME, BY_TIME);
    put(ends, "there", { k: "a", v: "1", at: T1 }, { k: "b", v: "1", at: T1 });
    put(ends, "there", { k: "c", v: "1", at: T2 });
    await runOf(ends, { direction: "both" });
    await register(ends, "there", WITH_NOTES);
    for (const k of ["a", "b", "c"]) put(ends, "there", { k, notes: `notes of ${k}` });
    // It stays here, as it is newer.
    put(ends, "here", { k: "b", v: "mine", at: "2026-03-01T11:00:00Z" });
    await register(ends, "here", WITH_NOTES);
    return ends;
  }

  const FILLED = [
    { k: "a", v: "1", at: T1, notes: "notes of a" },
    { k: "b", v: "mine", at: "2026-03-01T11:00:00Z", notes: "notes of b" },
    { k: "c", v: "1", at: T2, notes: "notes of c" },
  ];

  test("D-7.3.3 a push before a column that is new here was pulled is refused, with full too", async () => {
    const ends = await withNotesThere();
    const before = rows(ends, "there");
    for (const isFull of [false, true]) {
      const pushed = await runOf(ends, { direction: "push", isFull });
      expect([pushed.run.status, errorsOf(pushed)]).toEqual([
        "failed",
        [
          'push: Columns of "items" are new here, and a push would empty them at the remote: "notes"; pull the table first, or run both',
        ],
      ]);
    }
    expect(rows(ends, "there")).toEqual(before);
  });

  test("D-7.3.3 a pull reads the table from its start, and takes that column alone for rows that are newer here", async () => {
    const ends = await withNotesThere();
    const { run } = await runOf(ends, { direction: "pull" });
    expect(run).toMatchObject({ status: "success", totalPulled: 3, kept: 1, changed: 3 });
    expect(rows(ends, "here")).toEqual(FILLED);
    const again = await runOf(ends, { direction: "pull" });
    expect(again.run).toMatchObject({ changed: 0 });
    expect(again.run.totalPulled).toBeLessThan(3);
    expect((await runOf(ends, { direction: "push" })).run.status).toBe("success");
    expect(rows(ends, "there")).toEqual(FILLED);
  });

  test("D-7.3.3 both pulls first then, so that nothing is emptied there", async () => {
    const ends = await withNotesThere();
    expect(await directions(ends, { direction: "both" })).toEqual(["pull", "push"]);
    expect(rows(ends, "here")).toEqual(FILLED);
    expect(rows(ends, "there")).toEqual(FILLED);
    expect(await directions(ends, { direction: "both" })).toEqual(["push", "pull"]);
  });

  test("D-7.3.3 a dry run of both counts the pull and the push", async () => {
    const ends = await withNotesThere();
    const before = [rows(ends, "here"), rows(ends, "there")];
    const { run } = await runOf(ends, { direction: "both", isDryRun: true });
    expect(run).toMatchObject({ status: "success", totalPulled: 3 });
    expect([rows(ends, "here"), rows(ends, "there")]).toEqual(before);
  });

  test("D-7.3.3 what stands here in a column that is new is not emptied by a remote that has nothing in it", async () => {
    const ends = await endsWith(BY_TIME, BY_TIME);
    put(ends, "here", { k: "a", v: "1", at: T1 });
    await runOf(ends, { direction: "both" });
    await register(ends, "here", WITH_NOTES);
    await register(ends, "there", WITH_NOTES);
    put(ends, "here", { k: "a", notes: "mine" });
    await runOf(ends, { direction: "both" });
    expect(rows(ends, "here")).toEqual([{ k: "a", v: "1", at: T1, notes: "mine" }]);
    expect(rows(ends, "there")).toEqual(rows(ends, "here"));
  });

  test("D-7.3.3 what stands here in a column that appeared there is not emptied by pulls before the push of it", async () => {
    const ends = await endsWith(WITH_NOTES, BY_TIME);
    put(ends, "here", { k: "a", v: "1", at: T1, notes: "mine" });
    await runOf(ends, { direction: "both" });
    await register(ends, "there", WITH_NOTES);
    for (const direction of ["pull", "pull", "both"] as const) {
      await runOf(ends, { direction });
      expect(rows(ends, "here")).toEqual([{ k: "a", v: "1", at: T1, notes: "mine" }]);
    }
    expect(rows(ends, "there")).toEqual(rows(ends, "here"));
    put(ends, "there", { k: "a", v: "2", at: T2, notes: null });
    await runOf(ends, { direction: "pull" });
    expect(rows(ends, "here")).toEqual([{ k: "a", v: "2", at: T2, notes: null }]);
  });

  test("D-7.3.3 what a pull leaves here in a column that appeared there goes with the next push, after an earlier one too", async () => {
    const ends = await endsWith(WITH_NOTES, BY_TIME);
    put(ends, "here", { k: "a", v: "1", at: T1, notes: "mine" });
    await runOf(ends, { direction: "both" });
    put(ends, "there", { k: "a", v: "2", at: T2 });
    await register(ends, "there", WITH_NOTES);
    for (const direction of ["push", "pull", "pull", "push"] as const) {
      expect((await runOf(ends, { direction })).run.status).toBe("success");
    }
    expect(rows(ends, "here")).toEqual([{ k: "a", v: "2", at: T2, notes: "mine" }]);
    expect(rows(ends, "there")).toEqual(rows(ends, "here"));
    expect((await runOf(ends, { direction: "both" })).run.changed).toBe(0);
  });

  test("D-7.3.3 a row that changes while its column is filled keeps the change", async () => {
    const ends = await withNotesThere();
    const edits = [
      { k: "b", v: "edited", at: "2026-03-01T11:30:00Z" },
      { k: "b", notes: "written here", at: "2026-03-01T11:40:00Z" },
    ];
    const { tables } = ends.deps;
    const byKeys: typeof tables.byKeys = async (...asked) => {
      const found = await tables.byKeys(...asked);
      const edit = found.some(({ k }) => k === "b") ? edits.shift() : undefined;
      if (edit !== undefined) put(ends, "here", edit);
      return found;
    };
    const racing = Object.assign(Object.create(tables), { byKeys });
    const edited = { ...ends, deps: { ...ends.deps, tables: racing } };
    await runOf(edited, { direction: "pull" });
    expect(edits).toEqual([]);
    expect(rows(ends, "here")[1]).toEqual({
      ...{ k: "b", v: "edited", at: "2026-03-01T11:40:00Z", notes: "written here" },
    });
  });

  test("D-7.3.3 a pull that was cut short reads from the start again", async () => {
    const ends = await withNotesThere();
    const paged = { ...ends, deps: { ...ends.deps, maxPageRows: 2 } };
    let pulls = 0;
    ends.intercept = ({ kind }, send) => {
      if (kind === "pull" && ++pulls === 2) throw new Error("the process ends here");
      return send();
    };
    expect((await runOf(paged, { direction: "pull" })).run.status).toBe("failed");
    ends.intercept = (_, send) => send();
    const pushed = await runOf(ends, { direction: "push" });
    expect(pushed.run.status).toBe("failed");
    await runOf(ends, { direction: "pull" });
    expect(rows(ends, "here")).toEqual(FILLED);
  });

  test("D-7.3.3, D-7.3.4 the same in a run both ways, where each end has something to say", async () => {
    const ends = await endsWith(WITH_NOTES, BY_TIME);
    put(ends, "here", { k: "a", v: "1", at: T1, notes: "of a" }, { k: "b", v: "1", at: T2 });
    await runOf(ends, { direction: "both" });
    await register(ends, "there", WITH_NOTES);
    put(ends, "there", { k: "b", notes: "from there" });
    await runOf(ends, { direction: "both" });
    expect(rows(ends, "here").map(({ notes }) => notes)).toEqual(["of a", "from there"]);
    expect(rows(ends, "there")).toEqual(rows(ends, "here"));
  });
});
