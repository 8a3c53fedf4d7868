// Lists in replies of a remote: others have their turn while they are looked at.
import { expect, test } from "bun:test";
import { readDeletedReply, readDigestPage } from "../../../src/adapters/fetch/read-reply.ts";
import { Turns } from "../../../src/ports/runtime/turns.ts";
import { HurriedClock } from "../../support/time/fake-clock.ts";

const ITEMS = 200;

/** A reply whose reading counts the turns that others have, each small step taking a whole one. */
function replyOf(fields: object) {
  let turns = 0;
  const pause = async () => {
    turns++;
  };
  const reply = {
    label: "A request",
    headers: new Headers(),
    body: new TextEncoder().encode(JSON.stringify(fields)),
    turns: new Turns(new HurriedClock(), pause),
  };
  return { reply, turnsTaken: () => turns };
}

test("D-11.1 tombstones of a reply are looked at in turns", async () => {
  const item = { key: { k: "a" }, deleted_at: "2026-01-01T00:00:00Z" };
  const { reply, turnsTaken } = replyOf({
    table: "t",
    items: Array.from({ length: ITEMS }, () => item),
    next_cursor: null,
    cursor: "c",
    earliest_available: "2026-01-01T00:00:00Z",
    server_time: "2026-01-01T00:00:00Z",
  });
  const { items } = await readDeletedReply(reply, "t", null);
  expect(items).toHaveLength(ITEMS);
  expect(items[0]).toEqual({ key: { k: "a" }, deletedAt: "2026-01-01T00:00:00Z" });
  expect(turnsTaken()).toBeGreaterThanOrEqual(ITEMS);
});

test("D-11.1 segments of a digest are looked at in turns", async () => {
  const segment = { through: null, count: 1, digest: "0".repeat(32) };
  const { reply, turnsTaken } = replyOf({
    table: "t",
    format: "f",
    columns: ["k"],
    segments: Array.from({ length: ITEMS }, () => segment),
    has_more: false,
  });
  const { segments } = await readDigestPage(reply, "t", {} as never);
  expect(segments).toHaveLength(ITEMS);
  expect(turnsTaken()).toBeGreaterThanOrEqual(ITEMS);
});
