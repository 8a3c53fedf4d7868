// What a process moves and looks up, added to the history.
import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/shared/errors.ts";
import { Traffic } from "../../src/repositories/traffic.ts";
import { TrafficMeter } from "../../src/usecases/operations/traffic-meter.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { SimTime } from "../support/time/sim-time.ts";

function startMeter(lookups = () => 0) {
  const time = new SimTime();
  const traffic = new Traffic(ownDocuments(time.clock()));
  const runtime = { clock: time.clock(), timer: time, logger: new MemoryLogger() };
  const deps = { traffic, lookups, ...runtime };
  return { time, traffic, meter: new TrafficMeter(deps) };
}

const NOON = Date.parse("2026-03-01T12:00:00Z");

test("D-9.5.5 rows count in the minute in which they moved, and are added every few seconds, once", async () => {
  const { time, traffic, meter } = startMeter();
  meter.addRows(3);
  time.advance(58_000);
  meter.addRows(4);
  meter.addRows(0);
  time.advance(4_000);
  meter.addRows(5);
  time.advance(5_000);
  expect((await traffic.read(time.nowMs)).minutes).toEqual([
    { atMs: NOON, rows: 7, lookups: 0 },
    { atMs: NOON + 60_000, rows: 5, lookups: 0 },
  ]);
});

test("D-9.5.5 lookups are what their number grew, and the end adds the last", async () => {
  let lookups = 7;
  const { time, traffic, meter } = startMeter(() => lookups);
  time.advance(20_000);
  lookups = 10;
  await time.run(meter.stop());
  await time.run(meter.stop());
  expect((await traffic.read(time.nowMs)).minutes).toEqual([{ atMs: NOON, rows: 0, lookups: 10 }]);
});

test("D-9.5.5 what a store does not take is added later", async () => {
  let lookups = 0;
  const { time, traffic, meter } = startMeter(() => lookups);
  const add = traffic.add.bind(traffic);
  traffic.add = async () => {
    throw new AppError("store_unavailable", "It does not answer");
  };
  meter.addRows(3);
  lookups = 2;
  time.advance(6_000);
  traffic.add = add;
  meter.addRows(1);
  time.advance(6_000);
  expect((await traffic.read(time.nowMs)).hours).toEqual([{ atMs: NOON, rows: 4, lookups: 2 }]);
});
