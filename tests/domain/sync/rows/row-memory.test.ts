import { expect, test } from "bun:test";
import fc from "fast-check";
import { RowMemory } from "../../../../src/domain/sync/rows/row-memory.ts";
import { checkProperty } from "../../../support/seed.ts";

test("a row is unknown until it is noted, and then has its last note", () => {
  const memory = new RowMemory();
  expect(memory.note({ key: "a", content: "1" }, 7)).toEqual({ note: 0, isSame: false });
  expect(memory.find({ key: "a", content: "1" })).toEqual({ note: 7, isSame: true });
  expect(memory.find({ key: "a", content: "2" })).toEqual({ note: 7, isSame: false });
  expect(memory.note({ key: "a", content: "2" }, 8)).toEqual({ note: 7, isSame: false });
  expect(memory.find({ key: "a", content: "2" })).toEqual({ note: 8, isSame: true });
  expect(memory.find({ key: "b" })).toEqual({ note: 0, isSame: false });
  expect(memory.size).toBe(1);
});

test("it knows what a map knows, also after it has grown", () => {
  const notes = fc.array(
    fc.record({ key: fc.string({ maxLength: 2 }), content: fc.string({ maxLength: 1 }) }),
    { maxLength: 400 },
  );
  checkProperty(
    fc.property(notes, (rows) => {
      const memory = new RowMemory();
      const model = new Map<string, { content: string; note: number }>();
      for (const [i, { key, content }] of rows.entries()) {
        const before = model.get(key);
        expect(memory.note({ key, content }, i + 1)).toEqual({
          note: before?.note ?? 0,
          isSame: before?.content === content,
        });
        model.set(key, { content, note: i + 1 });
      }
      expect(memory.size).toBe(model.size);
    }),
    100,
  );
});

test("a hundred thousand keys stay apart", () => {
  const memory = new RowMemory();
  for (let i = 0; i < 100_000; i++) memory.note({ key: `key-${i}` }, i + 1);
  expect(memory.size).toBe(100_000);
  for (let i = 0; i < 100_000; i += 997) {
    expect(memory.find({ key: `key-${i}` }).note).toBe(i + 1);
  }
});
