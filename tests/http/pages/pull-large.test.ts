// Pages of large rows. D-7.9.
import { expect, test } from "bun:test";
import { onEveryBackend } from "../support/backends.ts";
import { type JsonFields, startApp } from "../support/sync-app.ts";

const MIB = 1024 * 1024;
/** As JSON two bytes each, so that one row has 200,000. */
const BODY = "é".repeat(100_000);
const NAMES = Array.from({ length: 200 }, (_, i) => `n-${String(i).padStart(3, "0")}`);

onEveryBackend("pull() of large rows", (backend) => {
  test("D-7.9 pull() cuts a page at 32 MiB of JSON, and says so by its limit", async () => {
    const app = await startApp({ backend });
    for (let from = 0; from < NAMES.length; from += 50) {
      const records = NAMES.slice(from, from + 50).map((name) => ({ name, body: BODY }));
      expect((await app.pushGzip("notes", JSON.stringify({ records }))).json["upserted"]).toBe(50);
    }
    const first = await app.pull("notes", "?limit=5000");
    const { records, ...head } = first.json as { records: readonly JsonFields[] };
    expect(head).toEqual({
      ...{ table: "notes", since: null, count: 167, total: 200, offset: 0 },
      ...{ limit: 167, has_more: true, next_offset: 167 },
    } as never);
    const bytes = Buffer.byteLength(first.text);
    expect([bytes <= 32 * MIB, bytes > 31 * MIB]).toEqual([true, true]);
    const rest = await app.pull("notes", "?limit=5000&offset=167");
    expect(rest.json).toMatchObject({
      ...{ count: 33, total: 200, offset: 167, limit: 5000, has_more: false, next_offset: null },
    });
    const all = [...records, ...(rest.json["records"] as readonly JsonFields[])];
    expect(all.map(({ name }) => name)).toEqual(NAMES);
    expect(all.every(({ body }) => body === BODY)).toBeTrue();
  });

  test("D-7.9 pull() gives a row that is larger than a page alone", async () => {
    const app = await startApp({ backend });
    const sizes = [1, backend.name === "MongoDB" ? 12 : 40, 1];
    for (const [i, size] of sizes.entries()) {
      await app.pushGzip(
        "notes",
        JSON.stringify({ records: [{ name: `${i}`, body: "x".repeat(size * MIB) }] }),
      );
    }
    const seen: unknown[] = [];
    for (let offset: unknown = 0; offset !== null; ) {
      const { json } = await app.pull("notes", `?offset=${offset}&limit=9`);
      seen.push([json["count"], json["limit"]]);
      offset = json["next_offset"];
    }
    const all = [[3, 9]];
    const three = [
      [1, 1],
      [1, 1],
      [1, 9],
    ];
    expect(seen).toEqual(backend.name === "MongoDB" ? all : three);
  });
});
