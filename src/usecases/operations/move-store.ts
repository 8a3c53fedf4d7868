// Copies everything of a store into an empty one of any kind, and compares both. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import {
  PORTABLE_PARTS,
  type PortableStore,
  type PortableTarget,
  UNCOMPARED_PARTS,
} from "../../ports/copies/portable-store.ts";
import type { CopyCounts, CopyJob } from "../../ports/copies/store-copies.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";

export interface MoveDeps {
  readonly source: PortableStore;
  readonly target: PortableTarget;
  readonly tables: readonly Table[];
  /** Rows of all tables, about. */
  readonly totalRows: number;
  readonly mac: Mac;
}

const KEY_BYTES = 32;

/** Fills the target, or leaves it empty. Throws `store_unavailable`, also when the copy is not equal, and the reason to stop. */
export async function moveStore(deps: MoveDeps, job: CopyJob): Promise<CopyCounts> {
  const { target } = deps;
  try {
    const counts = await new Move(deps, job).run();
    await target.finish();
    return counts;
  } catch (error) {
    await target.giveUp();
    throw error;
  }
}

class Move {
  readonly #deps: MoveDeps;
  readonly #job: CopyJob;
  readonly #key: Uint8Array;
  #done = 0;

  constructor(deps: MoveDeps, job: CopyJob) {
    this.#deps = deps;
    this.#job = job;
    this.#key = deps.mac.randomBytes(KEY_BYTES);
  }

  async run(): Promise<CopyCounts> {
    const { source, target, tables } = this.#deps;
    const written = new Map<string, EntryDigest>();
    let rows = 0;
    for (const table of tables) {
      const digest = this.#digest();
      for await (const batch of source.readRows(table)) {
        await target.writeRows(table, batch);
        this.#count(digest, batch);
      }
      rows += digest.entries;
      written.set(tableLabel(table), digest);
    }
    for (const part of PORTABLE_PARTS) {
      const digest = this.#digest();
      for await (const batch of source.read(part, tables)) {
        await target.write(part, batch, tables);
        this.#count(digest, batch);
      }
      written.set(part, digest);
    }
    await this.#compare(written);
    const accounts = written.get("accounts")?.entries ?? 0;
    return { tables: tables.length, rows, accounts };
  }

  async #compare(written: ReadonlyMap<string, EntryDigest>): Promise<void> {
    const { target, tables } = this.#deps;
    for (const table of tables) {
      await this.#compareOne(tableLabel(table), target.readRows(table), written);
    }
    for (const part of PORTABLE_PARTS) {
      if (UNCOMPARED_PARTS.has(part)) continue;
      await this.#compareOne(part, target.read(part, tables), written);
    }
  }

  async #compareOne(
    label: string,
    batches: AsyncIterable<readonly object[]>,
    written: ReadonlyMap<string, EntryDigest>,
  ): Promise<void> {
    const digest = this.#digest();
    for await (const batch of batches) this.#count(digest, batch);
    if (digest.text === written.get(label)?.text) return;
    const text = `The new store does not hold what was written to it: ${label}`;
    throw new AppError("store_unavailable", text);
  }

  #digest(): EntryDigest {
    return new EntryDigest(this.#deps.mac, this.#key);
  }

  #count(digest: EntryDigest, batch: readonly object[]): void {
    const { stop, onProgress } = this.#job;
    stop?.throwIfAborted();
    for (const entry of batch) digest.add(entry);
    this.#done += batch.length;
    const part = Math.min(1, this.#done / Math.max(1, 2 * this.#deps.totalRows));
    // Each is read twice: to be written, and to be compared.
    onProgress?.({ rows: Math.min(this.#done, this.#deps.totalRows), part });
  }
}

/** Tells entries in whatever order. Equal entries cancel each other out, but their number does not. */
class EntryDigest {
  entries = 0;
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  #sum = 0n;

  constructor(mac: Mac, key: Uint8Array) {
    this.#mac = mac;
    this.#key = key;
  }

  add(entry: object): void {
    this.entries++;
    this.#sum ^= BigInt(`0x${this.#mac.hmacHex(this.#key, entryText(entry))}`);
  }

  get text(): string {
    return `${this.entries} ${this.#sum}`;
  }
}

function tableLabel({ name }: Table): string {
  return `table "${name}"`;
}

function entryText(entry: object): string {
  return JSON.stringify(entry, (_, value: unknown) => {
    if (value instanceof Uint8Array) return value.toHex();
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  });
}
