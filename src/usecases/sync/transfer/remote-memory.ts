// What a table remembers, as far as it is of the remote that it is moved with. D-11.10.
import { remoteMarkerName, type SyncDirection } from "../../../domain/sync/run/marker.ts";
import {
  isOtherRemote,
  memoryNames,
  type RemoteIdentity,
  remoteText,
} from "../../../domain/sync/run/remote-memory.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { CommitExtras } from "../../../ports/tables/table-store.ts";
import type { Handshake } from "../shared/handshake.ts";
import type { RunContext } from "../shared/run-context.ts";

export class RemoteMemory {
  /** True when what was kept is another remote's. */
  readonly isOther: boolean;
  /** Markers by name, as they were kept; none of the table's that are another remote's. */
  readonly markers: ReadonlyMap<string, string>;
  readonly #tableName: string;
  readonly #remote: RemoteIdentity;
  #dropped: readonly string[];
  #forgetsAgreed: boolean;

  private constructor({ name }: Table, remote: RemoteIdentity, kept: ReadonlyMap<string, string>) {
    const names = memoryNames(name);
    this.#tableName = name;
    this.#remote = remote;
    this.isOther = isOtherRemote(kept, name, remote);
    this.#dropped = this.isOther ? names : [];
    this.#forgetsAgreed = this.isOther;
    this.markers = this.isOther
      ? new Map([...kept].filter(([marker]) => !names.includes(marker)))
      : kept;
  }

  static async read(
    { deps, remote }: Pick<RunContext, "deps" | "remote">,
    table: Table,
    { remoteId }: Pick<Handshake, "remoteId">,
  ): Promise<RemoteMemory> {
    const identity = { id: remoteId, address: remote.address };
    return new RemoteMemory(table, identity, await deps.markers.readAll());
  }

  /** Lets the next commit remove the agreed rows. */
  forgetAgreed(): void {
    this.#forgetsAgreed = true;
  }

  /** What is committed beside the rows of a direction: the remote that it is with, and nothing of another one. */
  extras(direction: SyncDirection, own: CommitExtras): CommitExtras {
    const markers = new Map([
      ...this.#dropped.map((name): [string, string] => [name, ""]),
      [remoteMarkerName(direction, this.#tableName), remoteText(this.#remote)],
      ...(own.markers ?? []),
    ]);
    return { ...own, markers, ...(this.#forgetsAgreed ? { forgetsAgreed: true } : {}) };
  }

  /** Call it once a commit with `extras` has succeeded. */
  committed(): void {
    this.#dropped = [];
    this.#forgetsAgreed = false;
  }
}

/** What the user is told of a table that is moved with another remote than before. */
export function otherRemoteText({ name }: Table): string {
  return `The remote is another one than in the run before: what was remembered of "${name}" is that one's, so all rows are looked at`;
}
