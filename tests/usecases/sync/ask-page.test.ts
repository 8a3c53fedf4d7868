// How many rows a pull asks for at once. D-4.6.
import { expect, test } from "bun:test";
import { createSyncClient } from "../../../src/client.ts";
import { PullCursor } from "../../../src/domain/sync/pull/pull-cursor.ts";
import { BatchSize } from "../../../src/domain/sync/run/pacing.ts";
import type { PulledPage, RemotePeer } from "../../../src/ports/tables/remote-peer.ts";
import { askPage, RemoteTable } from "../../../src/usecases/sync/shared/remote-table.ts";
import { openRun } from "../../../src/usecases/sync/shared/run-context.ts";
import { openRemote } from "../../../src/usecases/sync/shared/sync-deps.ts";
import { plainReply, startPeer } from "../../adapters/fetch/sync-client-support.ts";
import { makeTwoEnds, type TwoEnds } from "./two-ends.ts";

const SINCE = "2026-03-01T10:00:00Z";

interface Asking {
  readonly size?: BatchSize;
  /** How long each reply takes. */
  readonly replyMs?: readonly number[];
}

/** Asks for pages whose replies have these lengths, and tells how many rows each was to have. */
async function askedFor(
  lengths: readonly number[],
  { size = new BatchSize(1000, 1000), replyMs = [] }: Asking = {},
): Promise<number[]> {
  const ends = await makeTwoEnds();
  const { peer } = openRemote(ends.deps);
  const asked: number[] = [];
  const measured: RemotePeer = {
    ...peer,
    async pullPage(tableName, request): Promise<PulledPage> {
      const bytesUncompressed = lengths[asked.length] ?? 0;
      ends.time.advance(replyMs[asked.length] ?? 0);
      asked.push(request?.limit ?? 0);
      return { ...(await peer.pullPage(tableName, request)), bytesUncompressed };
    },
  };
  await askPages(ends, measured, { size, count: lengths.length });
  return asked;
}

/** Asks a peer for the first page as often as `count` says. */
async function askPages(
  { deps, table }: TwoEnds,
  peer: RemotePeer,
  { size, count }: { readonly size: BatchSize; readonly count: number },
): Promise<void> {
  const stop = new AbortController().signal;
  const run = openRun({ runId: "run", deps: { ...deps, connectPeer: () => peer }, stop });
  const source = new RemoteTable(run, table);
  const cursor = PullCursor.beginSince(table, SINCE, 5000);
  for (let i = 0; i < count; i++) await askPage(source, cursor, size);
}

const MIB = 1024 * 1024;

test("D-4.6 after a page of more than 4 MiB the next one has half the rows, and grows again", async () => {
  expect(await askedFor([5 * MIB, 5 * MIB, 2 * MIB, MIB, 0])).toEqual([1000, 500, 250, 282, 318]);
});

test("D-4.5 a page never has fewer than two rows", async () => {
  expect((await askedFor(Array.from({ length: 12 }, () => 99 * MIB))).slice(-3)).toEqual([2, 2, 2]);
});

test("D-7.9.3 a pull begins with 500 rows, and doubles them while a page takes no more than half a second", async () => {
  const size = new BatchSize(5000);
  const replyMs = [0, 500, 501, 900, 10, 10];
  expect(await askedFor([0, 0, 0, 0, 0, 0], { size, replyMs })).toEqual([
    500, 1000, 2000, 2000, 2000, 4000,
  ]);
});

test("D-7.9.3 a page of more than 2 MiB does not let the next one have more rows", async () => {
  const size = new BatchSize(5000);
  const lengths = [2 * MIB, 2 * MIB + 1, 4 * MIB, 0, 0];
  expect(await askedFor(lengths, { size })).toEqual([500, 1000, 1000, 1000, 2000]);
});

test.each([
  ["of more than 2,000,000 values", `[${"1,".repeat(2_000_000)}1]`],
  ["that is longer than a reply may be", `["${"x".repeat(5_000_000)}"]`],
])(
  "D-11.2.1 a page %s is asked for again with half its limit, and once each",
  async (_what, records) => {
    const ends = await makeTwoEnds();
    const head = { table: ends.table.name, since: SINCE, count: 0, total: 0, offset: 0 };
    const asked: number[] = [];
    const { baseUrl } = startPeer(({ target }) => {
      const limit = Number(/[?&]limit=(\d+)/.exec(target)?.[1]);
      asked.push(limit);
      const page = { ...head, limit, has_more: false, next_offset: null, records: [] };
      const reply = JSON.stringify(page);
      return plainReply(limit > 200 ? reply.replace("[]", records) : reply);
    });
    const peer = createSyncClient({ baseUrl, key: "k-1-secret", maxReplyBytes: 4_500_000 });
    await askPages(ends, peer, { size: new BatchSize(1000, 1000), count: 2 });
    expect(asked).toEqual([1000, 500, 250, 125, 141]);
  },
);
