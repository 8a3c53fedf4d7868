import { LEASE_TTL_MS } from "../../../domain/shared/limits.ts";
import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import { markerName } from "../../../domain/sync/run/marker.ts";
import { isSurelyHeld, transferLeaseName } from "../shared/hold-lease.ts";
import type { Transfer } from "./transfer.ts";

/**
 * Moves the push marker over what has just been pulled: the remote has it, so it need not go back. Everything older had
 * been pushed when the run read this deployment's rows. Does nothing when another run is pushing, or has since. D-4.7.
 */
export async function passPulledRows(
  { deps, table, twoWay }: Pick<Transfer, "deps" | "table" | "twoWay">,
  run: { readonly runId: string; readonly pulledUpTo: string | null },
): Promise<void> {
  const book = twoWay?.pushMarkers ?? null;
  const pulledUpTo = run.pulledUpTo === null ? null : parseDateTime(run.pulledUpTo);
  if (book === null || pulledUpTo === null) return;
  const pushedUpTo = book.current() === null ? null : parseDateTime(book.current() ?? "");
  if (pushedUpTo !== null && compareDateTimes(pulledUpTo, pushedUpTo) <= 0) return;
  const name = transferLeaseName("push", table.name);
  const askedAtMs = deps.clock.monotonicMs();
  const lease = await deps.leases.acquire({ name, holder: run.runId, ttlMs: LEASE_TTL_MS });
  if ("heldBy" in lease) return;
  try {
    const kept = (await deps.markers.readAll()).get(markerName("push", table.name)) ?? null;
    const markers = kept === book.current() ? book.advance(pulledUpTo) : new Map();
    if (markers.size > 0 && isSurelyHeld(deps.clock, askedAtMs))
      await deps.markers.writeAll(markers);
  } finally {
    await lease.release();
  }
}
