// The agreed rows of a table in the store: a push reads them, both directions add to them, and they are kept about as
// small as the table. D-7.1.
import { countBlock } from "../../../domain/sync/run/agreed-block.ts";
import { AgreedRows, agreedBlock } from "../../../domain/sync/run/agreed-rows.ts";
import { agreedCountName, markerName, markName } from "../../../domain/sync/run/marker.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { CommitExtras } from "../../../ports/tables/table-store.ts";
import { type RunLease, transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import type { ExtrasOfRows } from "./apply-records.ts";
import type { TableTransfer, TransferMarkers } from "./begin-transfer.ts";

/** Versions that pulls may add, beside as many as the table has rows, before they are put together. */
const MIN_ADDED = 50_000;

/** Agreed rows as they were read. */
interface ReadAgreed {
  readonly rows: AgreedRows;
  /** The ids of the blocks. */
  readonly ids: readonly string[];
  readonly versions: number;
}

async function readAgreed({ run, table }: TableTransfer): Promise<ReadAgreed> {
  const kept = await run.deps.agreed.read(table.name);
  const blocks = kept.map(({ bytes }) => bytes);
  const ids = kept.map(({ id }) => id);
  return { rows: new AgreedRows(table, blocks), ids, versions: countAll(blocks) };
}

/** Puts blocks that were read together: each row once, and only what a push from the marker on can meet. */
async function replaceAgreed(
  { run, table }: TableTransfer,
  pushLease: RunLease,
  read: ReadAgreed,
  pushMarker: string | null,
): Promise<void> {
  const blocks = read.rows.blocks(pushMarker);
  if (blocks.length === read.ids.length && countAll(blocks) === read.versions) return;
  pushLease.assertHeld();
  await run.deps.agreed.replace(table.name, read.ids, blocks);
}

function countAll(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((sum, block) => sum + countBlock(block), 0);
}

/** Agreed rows during a push: what it need not send. */
export class PushAgreement {
  readonly #transfer: TableTransfer;
  readonly #markers: TransferMarkers;
  readonly #read: ReadAgreed;

  private constructor(transfer: TableTransfer, markers: TransferMarkers, read: ReadAgreed) {
    this.#transfer = transfer;
    this.#markers = markers;
    this.#read = read;
  }

  /** With `force` every row is sent; so it is when nobody knows which rows came late: then they are forgotten. */
  static async open(transfer: TableTransfer, markers: TransferMarkers): Promise<PushAgreement> {
    const { table, conflict } = transfer;
    const isUnknown = markers.lateFrom === "";
    if (isUnknown) transfer.memory.forgetAgreed();
    const read =
      isUnknown || conflict !== "newer"
        ? { rows: new AgreedRows(table), ids: [], versions: 0 }
        : await readAgreed(transfer);
    return new PushAgreement(transfer, markers, read);
  }

  /** Call it before `has` of these rows. */
  async prepare(rows: readonly Row[]): Promise<void> {
    const { run, lease } = this.#transfer;
    // Others have their turn after each block.
    for (const _ of this.#read.rows.readFor(rows)) await run.deps.timer.sleep(0, lease.signal);
  }

  /** True for a row that the push meets as it last went or came, and that was not noted as late since. */
  has(row: Row): boolean {
    return !this.#markers.isLate(row) && this.#read.rows.has(row);
  }

  /** What to commit with the marker behind rows that went. */
  extras(rows: readonly Row[]): Pick<CommitExtras, "agreed"> {
    const agreed = this.#read.rows.note(rows, this.#markers.current);
    return agreed === null ? {} : { agreed };
  }

  /** Call it at the end of a push that met all rows. */
  async finish(): Promise<void> {
    const { run, lease } = this.#transfer;
    if (run.isDryRun) return;
    await replaceAgreed(this.#transfer, lease, this.#read, this.#markers.current);
  }
}

/** Agreed rows during a pull: it adds what it brings. */
export class PullAgreement {
  readonly #transfer: TableTransfer;
  readonly #pushMarker: string | null;
  /** True when rows that were here before may not be agreed. */
  readonly #isFromStart: boolean;
  /** The own mark from before the first agreed row, when no push has kept one; null when one has. */
  readonly #ownMark: string | null;
  /** Versions added since they were put together last. */
  #added: number;
  #isChanged = false;

  private constructor(transfer: TableTransfer, isFromStart: boolean, ownMark: string | null) {
    const { table, lastMarkers } = transfer;
    this.#transfer = transfer;
    this.#isFromStart = isFromStart;
    this.#ownMark = ownMark;
    this.#pushMarker = lastMarkers.get(markerName("push", table.name)) ?? null;
    this.#added = Number(lastMarkers.get(agreedCountName(table.name)) ?? 0) || 0;
  }

  static async open(transfer: TableTransfer, markers: TransferMarkers): Promise<PullAgreement> {
    const { run, table, lastMarkers } = transfer;
    const isFromStart = markers.start === null;
    const names = [markName("push", table.name), markerName("push", table.name)];
    const isKept = names.some((name) => lastMarkers.has(name));
    const late = isKept
      ? null
      : await run.deps.lateRows.read(table, { afterMark: null, isForOwnPush: true });
    return new PullAgreement(transfer, isFromStart, late?.mark ?? null);
  }

  /** For one commit: what goes with the rows that are here as they came. */
  page(): ExtrasOfRows {
    const { table } = this.#transfer;
    const before = this.#added;
    return (rows, changed) => {
      // What comes again, as nothing has changed since, would be added again and again.
      if (changed === 0 && !this.#isFromStart) return {};
      const agreed = agreedBlock(table, rows, this.#pushMarker);
      if (agreed === null) return {};
      this.#isChanged = true;
      this.#added = before + countBlock(agreed);
      const markers = new Map([[agreedCountName(table.name), String(this.#added)]]);
      if (this.#ownMark !== null) markers.set(markName("push", table.name), this.#ownMark);
      return { agreed, markers };
    };
  }

  /** Puts blocks together when they have grown, unless a push works with them. */
  async finish(): Promise<void> {
    const { run, table } = this.#transfer;
    if (!this.#isChanged || this.#added < MIN_ADDED) return;
    const rows = await run.deps.rows.countSince(table, null);
    if (this.#added < MIN_ADDED + rows) return;
    const lease = await tryLease(
      run.deps,
      transferLeaseName("push", table.name),
      run.runId,
      run.stop,
    );
    if ("heldBy" in lease) return;
    try {
      const read = await readAgreed(this.#transfer);
      await replaceAgreed(this.#transfer, lease, read, this.#pushMarker);
      await run.deps.markers.writeAll(new Map([[agreedCountName(table.name), "0"]]));
    } finally {
      await lease.release();
    }
  }
}
