import { type JsonObject, parseJson } from "../../../src/domain/shared/json.ts";
import { entryName } from "../../../src/domain/sync/run/rejections.ts";
import type { DirectionMemory } from "../../../src/domain/sync/run/remote-memory.ts";
import type { SyncDirection } from "../../../src/domain/sync/run/run.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import {
  LEASES,
  MEMORY,
  REJECTED,
  REJECTED_TEXTS,
  type RejectedDocument,
} from "../../../src/repositories/run-collections.ts";
import type { MemoryDocuments } from "../memory/documents.ts";

/** What runs have kept in memory, at once. */
export class KeptNow {
  readonly #documents: MemoryDocuments;
  readonly #clock: Clock;

  constructor(documents: MemoryDocuments, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /** What the table `items` remembers of a direction. */
  of(direction: SyncDirection): DirectionMemory {
    const all = this.#documents.readNow(MEMORY).filter(({ table }) => table === "items");
    return all.find((kept) => kept.direction === direction) ?? {};
  }

  /** The marker of `sync_last_<direction>_items`; empty when there is none. */
  marker(name: string): string {
    const direction = name === "sync_last_push_items" ? "push" : "pull";
    return this.of(direction).marker ?? "";
  }

  /** Changes what `items` remembers of a direction, as if a run had. */
  set(direction: SyncDirection, change: DirectionMemory): void {
    const all = this.#documents.readNow(MEMORY);
    const kept = all.find((one) => one.table === "items" && one.direction === direction);
    const place = kept ?? { table: "items", direction };
    this.#documents.writeNow((tx) => tx.put(MEMORY, { ...place, ...change }));
  }

  forgetMark(direction: SyncDirection): void {
    const all = this.#documents.readNow(MEMORY);
    const kept = all.find((one) => one.table === "items" && one.direction === direction);
    if (kept === undefined) return;
    const { lateMark: _, ...left } = kept;
    this.#documents.writeNow((tx) => tx.put(MEMORY, left));
  }

  /** Everything that is remembered of remotes. */
  memory(): readonly object[] {
    return this.#documents.readNow(MEMORY);
  }

  /** Rejected records, the oldest first. */
  rejected() {
    const entries = this.#documents.readNow(REJECTED);
    const texts = Map.groupBy(this.#documents.readNow(REJECTED_TEXTS), ({ number }) => number);
    return entries
      .toSorted((a, b) => a.number - b.number)
      .map((entry) => withTexts(entry, texts.get(entry.number) ?? []));
  }

  hasRejected(direction: SyncDirection, key: JsonObject): boolean {
    const name = entryName({ key, fingerprint: "" })[0];
    const entries = this.#documents.readNow(REJECTED);
    return entries.some((one) => one.direction === direction && one.entry[0] === name);
  }

  /** Who has a lease; null when nobody has. */
  holderOf(name: string): string | null {
    const lease = this.#documents.readNow(LEASES).find((held) => held.name === name);
    return lease !== undefined && lease.endsAtMs > this.#clock.nowMs() ? lease.holder : null;
  }
}

function withTexts(
  { number, ...entry }: RejectedDocument,
  parts: readonly { readonly text: string }[],
) {
  const texts = parseJson(parts.map(({ text }) => text).join("")) as {
    readonly key: Readonly<Record<string, unknown>>;
    readonly record: Readonly<Record<string, unknown>> | null;
    readonly message: string;
  };
  return { ...entry, ...texts, id: String(number).padStart(16, "0") };
}
