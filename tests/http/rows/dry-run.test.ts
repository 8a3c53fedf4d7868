// Dry runs of imports tell what the import does. D-14.7.1.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { Person } from "../reputation/people.ts";
import { onEveryBackend } from "../support/backends.ts";
import { type RunApp, startRunApp } from "../sync-runs/support/run-apps.ts";
import { fileOf, resultOf, STOCK } from "./support/import-replies.ts";

/** What an import told, and a dry run of the same before it. */
async function importBoth(app: RunApp, table: string, text: string) {
  const dry = resultOf(await app.ask(`/import/${table}?dry_run=true`, fileOf(text)));
  const real = resultOf(await app.ask(`/import/${table}`, fileOf(text)));
  const { changes: _, dry_run: isDry, ...told } = dry ?? { type: "" };
  expect([isDry, { ...told, dry_run: false }]).toEqual([true, real]);
  return real;
}

onEveryBackend("dry runs of imports", (backend) => {
  test("D-14.7.1 a dry run tells what the import does beside deletes, erased people, and rows that come again", async () => {
    const cost = { type: "integer", serialize: false } as const;
    const columns = { ...STOCK.columns, cost };
    const guarded: TableEntry = { ...STOCK, conflict: "newer", stamped: false, columns };
    const app = await startRunApp({ backend, tables: { stock: guarded } });
    const both = (table: string, text: string) => importBoth(app, table, text);
    const at = "2026-01-01T00:00:00Z";
    await both("stock", `sku,qty,updated_at\na,1,${at}\nb,2,${at}\n`);
    await app.ask("/import/stock?whole=true", fileOf(`sku,qty,updated_at\nb,2,${at}\n`));
    const old = await both("stock", `sku,qty,updated_at\na,1,${at}\nb,2,${at}\nc,3,${at}\n`);
    expect(old).toMatchObject({ read: 3, new: 1, changed: 0, same: 2 });
    const many = Array.from({ length: 1_500 }, (_, i) => `k${i},${i},${at}\n`).join("");
    const again = `k1,1,${at}\nk2,5,2026-01-02T00:00:00Z\n`;
    const twice = await both("stock", `sku,qty,updated_at\n${many}${again}`);
    expect(twice).toMatchObject({ read: 1_502, new: 1_500, changed: 1, same: 1 });
    const hidden = (...costs: number[]) =>
      `sku,cost,qty,updated_at\n${costs.map((cost, i) => `h${i},${cost},1,${at}\n`).join("")}`;
    await both("stock", hidden(1, 2));
    const other = resultOf(await app.ask("/import/stock?dry_run=true", fileOf(hidden(1, 3))));
    expect(other).toMatchObject({ changes: [{ key: "sku=h1", here: {}, record: {} }] });
    expect(await both("stock", hidden(1, 3))).toMatchObject({ changed: 1, same: 1 });
    const ana = await Person.signUp(app, "ana");
    await ana.send("/v1/me", { method: "DELETE" });
    const people = await both("profiles", "username,display_name\nana,Ana\nbob,Bob\n");
    expect(people).toMatchObject({ read: 2, new: 1, failed: 1 });
  });

  test("D-14.7.1 a dry run counts what comes again behind the first 1,000 records as the import does", async () => {
    const columns: TableEntry["columns"] = {
      ...{ sku: { type: "text" }, qty: { type: "integer" }, note: { type: "text" } },
      ...{ at: { type: "datetime" }, cost: { type: "integer", serialize: false } },
    };
    const plain: TableEntry = { upsert_key: ["sku"], update_columns: ["qty", "cost"], columns };
    const stock: TableEntry = { upsert_key: ["sku"], timestamp_column: "at", columns };
    const guarded: TableEntry = { ...stock, conflict: "newer" };
    const app = await startRunApp({ backend, tables: { plain, stock, guarded } });
    const filler = Array.from({ length: 1_000 }, (_, i) => `k${i},1,n,2026-01-01T00:00:00Z\n`);
    const line = (sku: string) => `${sku},2026-01-01T00:00:00Z\n`;
    const again = (...lines: readonly string[]) =>
      `sku,qty,note,at\n${line("a,1,n")}${filler.join("")}${lines.join("")}`;
    for (const table of ["plain", "stock", "guarded"]) {
      await importBoth(app, table, again(line("a,2,n"), line("a,2,n")));
      await importBoth(app, table, again(line("a,2,n"), line("a,1,n"), line("a,1,m")));
      await importBoth(app, table, again(line("a,1,n"), line("a,1,m"), line("a,3,m")));
      await importBoth(app, table, again("a,4,n,2026-01-02T00:00:00Z\n", line("a,5,n")));
      await importBoth(app, table, again("a,5,n,\n", "a,5,n,\n"));
    }
    const hidden = `sku,qty,note,at,cost\na,1,n,,7\n`;
    expect(await importBoth(app, "plain", hidden)).toMatchObject({ changed: 1 });
    const last = await importBoth(app, "plain", again(line("a,2,n"), line("a,2,m")));
    expect(last).toMatchObject({ read: 1_003, new: 0, changed: 1, same: 1_002 });
  });

  test("D-14.7.1, D-12.1 a dry run names the values that the store cannot hold as the import does", async () => {
    const app = await startRunApp({ backend, tables: { stock: STOCK } });
    const rows = [
      '{"sku":"a","qty":"many"}',
      '{"sku":"b\\u0000","qty":1}',
      '{"sku":"c","qty":1e300}',
      '{"sku":"d","qty":4}',
    ];
    const ask = async (query: string) => {
      const file = fileOf(rows.join("\n"), "application/x-ndjson");
      const told = resultOf(await app.ask(`/import/stock?lax=true${query}`, file));
      return [told?.["new"], told?.["failed"], told?.["failures"]];
    };
    expect(await ask("&dry_run=true")).toEqual(await ask(""));
  });
});
