// What a table remembers, as far as it is of the remote that it is moved with. D-11.10.
import type { RemoteIdentity, TableMemory } from "../../../domain/sync/run/remote-memory.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { Handshake } from "../shared/handshake.ts";
import type { RunContext } from "../shared/run-context.ts";

export class TransferMemory {
  readonly remote: RemoteIdentity;
  /** True when what was kept is another remote's. */
  readonly isOther: boolean;
  /** As it was kept; nothing of another remote. */
  readonly kept: TableMemory;
  #forgetsExchanged = false;

  private constructor(remote: RemoteIdentity, read: TableMemory & { readonly isOther: boolean }) {
    this.remote = remote;
    this.isOther = read.isOther;
    this.kept = read;
  }

  static async read(
    { deps, remote }: Pick<RunContext, "deps" | "remote">,
    table: Table,
    { remoteId }: Pick<Handshake, "remoteId">,
  ): Promise<TransferMemory> {
    const identity = { id: remoteId, address: remote.address };
    return new TransferMemory(identity, await deps.memory.read(table.name, identity));
  }

  /** True when the next commit removes the exchanged rows. */
  get forgetsExchanged(): boolean {
    return this.#forgetsExchanged;
  }

  /** Lets the next commit remove the exchanged rows. */
  forgetExchanged(): void {
    this.#forgetsExchanged = true;
  }

  /** Call it when a commit has succeeded. */
  committed(): void {
    this.#forgetsExchanged = false;
  }
}

/** What the user is told of a table that is moved with another remote than before. */
export function otherRemoteText({ name }: Table): string {
  return `The remote is another one than in the run before: what was remembered of "${name}" is that one's, so all rows are looked at`;
}
