// How many rows a pull asks for at once. D-4.6.
import { expect, test } from "bun:test";
import { PullCursor } from "../../../src/domain/sync/pull/pull-cursor.ts";
import { BatchSize } from "../../../src/domain/sync/run/pacing.ts";
import type { PulledPage, RemotePeer } from "../../../src/ports/tables/remote-peer.ts";
import { RemoteCalls } from "../../../src/usecases/sync/shared/call-remote.ts";
import type { RunContext } from "../../../src/usecases/sync/shared/run-context.ts";
import { openRemote } from "../../../src/usecases/sync/shared/sync-deps.ts";
import { askPage } from "../../../src/usecases/sync/transfer/remote-pages.ts";
import { makeTwoEnds } from "./two-ends.ts";

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
  const { deps, table, time } = await makeTwoEnds();
  const remote = openRemote(deps);
  const { peer } = remote;
  const asked: number[] = [];
  const measured: RemotePeer = {
    ...peer,
    async pullPage(tableName, request): Promise<PulledPage> {
      const bytesUncompressed = lengths[asked.length] ?? 0;
      time.advance(replyMs[asked.length] ?? 0);
      asked.push(request?.limit ?? 0);
      return { ...(await peer.pullPage(tableName, request)), bytesUncompressed };
    },
  };
  const run: RunContext = {
    runId: "run",
    deps,
    remote: { ...remote, peer: measured },
    directions: [],
    isForced: false,
    maxDeletes: null,
    isFull: false,
    isDryRun: false,
    startedAt: "2026-03-01T12:00:00Z",
    stop: new AbortController().signal,
    publish: () => {},
  };
  const calls = new RemoteCalls(deps, run.stop);
  const cursor = PullCursor.beginSince(table, "2026-03-01T10:00:00Z", 5000);
  for (const _ of lengths) await askPage({ run, table, calls }, cursor, size);
  return asked;
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
