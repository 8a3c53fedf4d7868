import { expect, test } from "bun:test";
import { fieldName, fromWire, toWire, wireName } from "../../../src/domain/shared/wire-names.ts";

test.each([
  ["limit", "limit"],
  ["nextCursor", "next_cursor"],
  ["rateLimitPerMinute", "rate_limit_per_minute"],
  ["last4", "last4"],
])("%s is %s on the wire, and back", (name, wire) => {
  expect(wireName(name)).toBe(wire);
  expect(fieldName(wire)).toBe(name);
});

test("toWire() names the fields of results at every depth, in their order", () => {
  const part = { items: [{ createdAt: "t", expiresAt: null }], nextCursor: "c" };
  expect(JSON.stringify(toWire(part))).toBe(
    '{"items":[{"created_at":"t","expires_at":null}],"next_cursor":"c"}',
  );
  expect(toWire("some Text")).toBe("some Text");
});

test("toWire() leaves names of columns and tables as they are, and rows uncopied", () => {
  const rows = [{ firstName: "Ana", last_name: null }];
  const page = toWire({ hasMore: false, records: rows }) as { records: unknown };
  expect(page.records).toBe(rows);
  expect(toWire({ lastAt: "t", key: { shopId: 1 } })).toEqual({ last_at: "t", key: { shopId: 1 } });
  expect(toWire({ segments: [{ through: [{ aB: 1 }] }] })).toEqual({
    segments: [{ through: [{ aB: 1 }] }],
  });
  expect(toWire({ examples: { missingHere: [{ shopId: 1 }] } })).toEqual({
    examples: { missing_here: [{ shopId: 1 }] },
  });
  expect(toWire({ tables: { myTable: { errorCount: 1 } } })).toEqual({
    tables: { myTable: { error_count: 1 } },
  });
  expect(toWire({ tables: ["myTable"], tableCounts: { myTable: 2 } })).toEqual({
    tables: ["myTable"],
    table_counts: { myTable: 2 },
  });
});

test("fromWire() names the fields of a flat object as this code does", () => {
  expect(fromWire({ display_name: "Ana", bio: null })).toEqual({ displayName: "Ana", bio: null });
});
