import { expect, test } from "bun:test";
import { describeTable } from "../../../src/domain/sync/table/table-schema.ts";
import { LISTINGS, makeTable } from "../../support/rows/make-table.ts";

test("D-7.3.1 describeTable() tells the registry's entry without what is not serialized", () => {
  expect(describeTable(makeTable(LISTINGS, "listings"))).toEqual({
    table: "listings",
    timestampColumn: "updated_at",
    upsertKey: ["shop", "sku"],
    updateColumns: "__all__",
    columns: {
      id: { type: "integer", nullable: true, maxLength: null, autoIncrement: true },
      shop: { type: "text", nullable: false, maxLength: null },
      sku: { type: "text", nullable: false, maxLength: null },
      price: { type: "numeric", nullable: true, maxLength: null },
      views: { type: "bigint", nullable: true, maxLength: null },
      active: { type: "boolean", nullable: true, maxLength: null },
      listed_on: { type: "date", nullable: true, maxLength: null },
      updated_at: { type: "datetime", nullable: true, maxLength: null },
      extra: { type: "json", nullable: true, maxLength: null },
    },
    deletes: false,
    stamped: false,
    lagSeconds: 60,
    conflict: "overwrite",
    direction: null,
  });
});

test.each([
  [undefined, "__all__"],
  [["__all__"], "__all__"],
  [[], []],
  [
    ["price", "secret", "shop"],
    ["price", "shop"],
  ],
] as const)("D-7.3.1 describeTable() tells update_columns %j as %j", (registered, told) => {
  const updates = registered === undefined ? {} : { update_columns: [...registered] };
  const { update_columns: _, ...entry } = LISTINGS;
  const table = makeTable({ ...entry, ...updates, lag_seconds: 0 });
  expect(describeTable(table)).toMatchObject({ updateColumns: told, lagSeconds: 0 });
});
