// The remote's status for many who ask, of which the remote notices little. D-9.5.

import { type RemoteStatus, readRemoteStatus } from "../sync/shared/read-remote-status.ts";
import type { SyncDeps } from "../sync/shared/sync-deps.ts";

/** How long a status is good. */
const REUSE_MS = 15_000;
/** Time that the remote has to answer. */
const MAX_WAIT_MS = 3_000;

/** Asks at most every 15 s, one request at a time, and for at most 3 s. */
export class RememberedRemote {
  readonly #deps: SyncDeps;
  #deploymentId: string | null = null;
  #asked: { readonly atMs: number; readonly status: Promise<RemoteStatus | null> } | null = null;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** As `readRemoteStatus`, as it was at most 15 s ago. */
  status(): Promise<RemoteStatus | null> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#asked === null || nowMs - this.#asked.atMs >= REUSE_MS) {
      this.#asked = { atMs: nowMs, status: this.#ask() };
    }
    return this.#asked.status;
  }

  /** The id of the remote, as it told it last; who has not met it asks now. Null where nothing tells it. D-11.9. */
  async deploymentId(): Promise<string | null> {
    if (this.#deploymentId === null) await this.status();
    return this.#deploymentId;
  }

  async #ask(): Promise<RemoteStatus | null> {
    const answer = await readRemoteStatus(this.#deps, MAX_WAIT_MS);
    this.#deploymentId = answer?.status?.deploymentId ?? this.#deploymentId;
    return answer;
  }
}
