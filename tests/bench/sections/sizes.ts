import { sizedRows } from "../bench-rows.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";
import { pullPages } from "./pull.ts";
import { pushThousands } from "./push.ts";

/** Of a row's JSON. */
const SIZES_BYTES = [100, 200, 400, 1_600];
const PAGE_ROWS = [1_000];

/** What pages and pushes of rows of several sizes take. */
export async function benchSizes(store: BenchStore, reporter: Reporter): Promise<void> {
  for (const bytes of SIZES_BYTES) {
    const shape = sizedRows(bytes);
    const name = `pull of rows of ${bytes} bytes`;
    await pullPages(store, reporter, { shape, name, pageRows: PAGE_ROWS, bar: null });
    const what = ` of ${bytes} bytes`;
    await pushThousands(store, reporter, { shape, what, bar: null });
  }
}
