// Runs over rows that other tools wrote into a SQLite file.
import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { SQLITE_FILE } from "../../support/backends.ts";
import { releaseResources } from "../../support/resources.ts";
import { startPair } from "../support/run-apps.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

/** Texts of a timestamp column, and what a page shows of each. */
const TEXTS = [
  ["2024-02-30", "2024-02-30"],
  ["2024-01-01T00:00:30+02:00", "2023-12-31T22:00:30Z"],
  ["2023-12-31 22:01:00-0200", "2024-01-01T00:01:00Z"],
  ["2024-01-01 00:02:00.25", "2024-01-01T00:02:00.250Z"],
  ["2024-01-01T00:03:60", "2024-01-01T00:03:60"],
] as const;

for (const direction of ["pull", "push"] as const) {
  test(`D-7.10.1 a ${direction} brings rows whose time is none, or has a zone, and all others`, async () => {
    const urls: string[] = [];
    const makeUrl = async () => {
      urls.push(await SQLITE_FILE.makeUrl());
      return urls.at(-1) ?? "";
    };
    const pages = { SYNC_MAX_BATCH_SIZE: "3" };
    const { local, remote } = await startPair({
      ...{ backend: { ...SQLITE_FILE, makeUrl }, env: pages, remoteEnv: pages },
    });
    const [source, target] = direction === "pull" ? [remote, local] : [local, remote];
    const records = Array.from({ length: 20 }, (_, n) => ({
      ...{ shop: "s", sku: `k${n}` },
      updated_at: `2024-01-01T00:0${n % 5}:${10 + n}Z`,
    }));
    await source.push("listings", { records });
    const url = urls[source === remote ? 0 : 1] ?? "";
    const file = new Database(url.replace("sqlite:", ""));
    for (const [n, [text]] of TEXTS.entries()) {
      file.run("INSERT INTO listings (shop, sku, updated_at) VALUES ('s', ?, ?)", [`t${n}`, text]);
    }
    file.close();
    expect((await local.trigger({ direction, table: "listings" })).json).toMatchObject({
      status: "success",
      error_count: 0,
    });
    const rows = await target.rows("listings");
    expect(rows.length).toBe(25);
    expect(rows).toEqual(await source.rows("listings"));
    const times = new Map(rows.map((row) => [row["sku"], row["updated_at"]]));
    expect(TEXTS.map((_, n) => times.get(`t${n}`))).toEqual(TEXTS.map(([, shown]) => shown));
    const again = (await local.trigger({ direction, table: "listings" })).json;
    expect(again).toMatchObject({ status: "success", changed: 0 });
  });
}
