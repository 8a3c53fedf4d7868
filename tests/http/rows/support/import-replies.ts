// Files that are imported over HTTP, and what is told of them.
import { expect } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Reply, RequestOptions } from "../../support/sync-app.ts";
import { readEvents, type StreamEvent } from "../../sync-runs/support/run-apps.ts";

export const CSV = "text/csv";

export const STOCK: TableEntry = {
  ...{ timestamp_column: "updated_at", upsert_key: ["sku"], stamped: true, deletes: true },
  columns: { sku: { type: "text" }, qty: { type: "integer" }, updated_at: { type: "datetime" } },
};

export function fileOf(body: RequestOptions["body"] = "", type = CSV): RequestOptions {
  return { method: "POST", headers: { "Content-Type": type }, body };
}

/** What an import told before `finished`. */
export function resultOf(reply: Reply): StreamEvent | undefined {
  const events = readEvents(reply);
  expect(events.at(-1)).toEqual({ type: "finished" });
  return events.at(-2);
}
