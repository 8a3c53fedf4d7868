import type { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import type { BatchSize } from "../../../domain/sync/run/pacing.ts";
import { isTooMuchToReceive } from "../../../domain/sync/run/pacing.ts";
import { type PulledPage, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { Transfer } from "./transfer.ts";

/** A page longer than this lets the next one have fewer rows, so that few bytes are held at once. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** A page that begins with a row that is known must have another one. */
const LEAST_ROWS = 2;

/**
 * Asks for the page that a cursor wants, with fewer rows when it is too much at once. A failure waits until the page is
 * looked at.
 */
export function askPage(
  { table, remote, calls }: Pick<Transfer, "table" | "remote" | "calls">,
  { cursor, size }: { readonly cursor: PullCursor; readonly size: BatchSize },
): Promise<PulledPage> {
  const { since, offset, limit } = cursor.request();
  const asked = ask();
  asked.catch(() => {});
  return asked;

  async function ask(): Promise<PulledPage> {
    for (;;) {
      const rows = Math.min(limit, Math.max(LEAST_ROWS, size.rows));
      const request = { since, offset, limit: rows };
      try {
        const page = await calls.call(
          (signal) => remote.peer.pullPage(table.name, { ...request, signal }),
          (error) => rows > LEAST_ROWS && isTooMuchToReceive(error),
        );
        if (page.bytesUncompressed > MAX_PAGE_BYTES) size.shrink(rows);
        else size.grow();
        return page;
      } catch (error) {
        if (!(error instanceof RemotePeerError)) throw error;
        size.shrink(rows);
      }
    }
  }
}
