// The table of docs/performance.md is made of the figures that `npm run bench -- publish` keeps.
import { expect, test } from "bun:test";
import { documentParts, readFigures, tableOf } from "../bench/figures.ts";

const FIGURES = readFigures();

test("the table of docs/performance.md has the figures of tests/bench/figures.json", () => {
  const [, table] = documentParts();
  expect(table).toBe(tableOf(FIGURES));
});

test("each figure says its date, commit and machine", () => {
  expect(FIGURES.length).toBeGreaterThan(30);
  const odd = FIGURES.filter(
    ({ origin }) => !/^\d{4}-\d\d-\d\d, [0-9a-f]{8}, Bun [\d.]+, \d+ × \S/.test(origin),
  );
  expect(odd).toEqual([]);
});

test("a figure below its bar is bold", () => {
  const table = tableOf([
    {
      name: "pull, MongoDB",
      ours: "58k rows/s",
      other: "100k rows/s",
      ratio: 0.58,
      bar: { atLeast: 0.8 },
      percentiles: "17.3/23.8 ms",
      perCore: "56k rows/s",
      origin: "2026-11-28, 99961ac9, Bun 1.4.5, 2 × AMD EPYC",
    },
    {
      name: "health, SQLite",
      ours: "60 ms own work",
      other: "100 ms allowed",
      ratio: 0.6,
      bar: { atMost: 1 },
      origin: "2026-11-28, 99961ac9, Bun 1.4.5, 2 × AMD EPYC",
    },
  ]);
  expect(table.split("\n")).toEqual([
    "",
    "| measured | SQLite | MongoDB | PostgreSQL |",
    "| --- | --- | --- | --- |",
    "| pull |  | **0.58** (>= 0.8): 58k beside 100k rows/s; 17.3/23.8 ms; 56k a core; A |  |",
    "| health | 0.60 (<= 1): 60 ms own work beside 100 ms allowed; A |  |  |",
    "",
    "- A: 2026-11-28, 99961ac9, Bun 1.4.5, 2 × AMD EPYC",
    "",
  ]);
});
