import { expect, test } from "bun:test";
import { describeTable } from "../../../src/domain/sync/table/table-schema.ts";
import { LISTINGS, makeTable } from "../../support/make-table.ts";

test("D-7.3.1 describeTable() tells the registry's entry without what is not serialized", () => {
  expect(describeTable(makeTable(LISTINGS, "listings"))).toEqual({
    table: "listings",
    timestampColumn: "updated_at",
    upsertKey: ["shop", "sku"],
    updateColumns: "__all__",
    columns: {
      id: { type: "integer", nullable: true },
      shop: { type: "text", nullable: false },
      sku: { type: "text", nullable: false },
      price: { type: "numeric", nullable: true },
      views: { type: "bigint", nullable: true },
      active: { type: "boolean", nullable: true },
      listed_on: { type: "date", nullable: true },
      updated_at: { type: "datetime", nullable: true },
      extra: { type: "json", nullable: true },
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
