// Names of fields in replies, from the schemas that the document shows.
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { namingOf } from "../../src/http/replies.ts";
import { listOf, model, nullable, Text } from "../../src/http/schemas/parts.ts";
import { CompareEventSchema, RunEventSchema } from "../../src/http/schemas/run-events.ts";

const Item = model("Item", { last_at: Text, key: Type.Object({}, { additionalProperties: true }) });

test("D-5.5 namingOf() names the fields of a schema at every depth, in its order", () => {
  const naming = namingOf(listOf(Item));
  const list = { nextCursor: null, items: [{ key: { shopId: 1, a_b: 2 }, lastAt: "t" }] };
  expect(JSON.stringify(naming(list))).toBe(
    '{"items":[{"last_at":"t","key":{"shopId":1,"a_b":2}}],"next_cursor":null}',
  );
});

test("D-5.5 namingOf() lets out no field that its schema lacks, and makes none of one that is absent", () => {
  const naming = namingOf(
    model("Account", { username: Text, last_sign_in_at: Type.Optional(Text) }),
  );
  expect(naming({ username: "ana", passwordHash: "secret" })).toEqual({ username: "ana" });
});

test("D-4.3 namingOf() leaves the names of a record's entries, such as tables, and names what is in them", () => {
  const Tables = Type.Record(Text, model("Result", { error_count: Type.Integer() }));
  const naming = namingOf(model("Run", { tables: Tables }));
  expect(naming({ tables: { shopItems: { errorCount: 1 } } })).toEqual({
    tables: { shopItems: { error_count: 1 } },
  });
});

test("D-9.5 namingOf() keeps null, and does not copy a row", () => {
  const Row = nullable(Type.Object({}, { additionalProperties: true }));
  const naming = namingOf(model("Detail", { record: Row, run: nullable(Item) }));
  const row = { priceNow: 1 };
  const named = naming({ record: row, run: null }) as Readonly<Record<string, unknown>>;
  expect(named).toEqual({ record: { priceNow: 1 }, run: null });
  expect(named["record"]).toBe(row);
});

test("S-6 namingOf() of a choice knows the fields of all its parts, however they are nested", () => {
  const naming = namingOf(Type.Union([RunEventSchema, CompareEventSchema]));
  expect(naming({ type: "start", table: "t", direction: "push", totalRecords: 3 })).toEqual({
    ...{ type: "start", table: "t", direction: "push" },
    total_records: 3,
  });
  expect(naming({ type: "finished" })).toEqual({ type: "finished" });
});
