import type {
  CopyCounts,
  CopyJob,
  EmptyStore,
  StoppedStore,
} from "../../ports/copies/store-copies.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { copyStore } from "./copy-store.ts";

interface MoveDeps {
  readonly source: StoppedStore;
  /** Takes the empty store, into which these tables come. Throws `invalid_request`. */
  readonly claim: (tables: readonly string[]) => Promise<EmptyStore>;
  readonly mac: Mac;
}

/**
 * Copies everything of a stopped deployment, its id and sessions too, into an empty store of any kind. Throws
 * `invalid_request` when a service uses either store, `conflict` for what the new one cannot hold, `store_unavailable`, also
 * when the copy is not equal, and the reason to stop; the new store is empty then. D-10.7.
 */
export async function moveStore(
  { source, claim, mac }: MoveDeps,
  job: CopyJob,
): Promise<CopyCounts> {
  await source.requireStopped();
  const { about } = await source.dump({ isStill: true });
  const target = await claim(about.tables.map(({ name }) => name));
  try {
    const counts = await copyStore(source, { target, mac }, job);
    // Who has started meanwhile may have written what is not moved any more.
    await source.requireStopped();
    await target.finish(about.deploymentId);
    return counts;
  } catch (error) {
    await target.giveUp();
    throw error;
  }
}
