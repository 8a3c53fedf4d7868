import { Binary, type ClientSession, type Collection, type Db, ObjectId, Timestamp } from "mongodb";
import type { AgreedBlock, AgreedBlocks } from "../../../ports/runs/agreed-rows.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { readSnapshot, SNAPSHOT, type StoreDeps, writeTogether } from "../driver/operations.ts";

/** The blocks in parts, as one may be larger than a document. */
export const AGREED: InternalCollection = {
  name: "repsync_agreed",
  indexes: [{ name: "repsync_order", key: { table: 1, at: 1, part: 1 } }],
};

interface PartDocument {
  readonly table: string;
  /** When it was added, by the server, so that parts are in the order of adding whoever adds them. */
  readonly at: Timestamp;
  /** Place among the parts with one `at`. */
  readonly part: number;
  /** Equal in all parts of a block. */
  readonly block: ObjectId;
  readonly data: Binary;
}

const PART_BYTES = 8 * 1024 * 1024;
/** The server puts its own time in place of this. */
const ADDED_NOW = new Timestamp({ t: 0, i: 0 });
const FIRST = new Timestamp({ t: 0, i: 1 });
const ORDER = { at: 1, part: 1 } as const;

export class MongoAgreedBlocks implements AgreedBlocks {
  readonly #deps: StoreDeps;
  readonly #parts: Collection<PartDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#parts = partsOf(deps.db);
  }

  async read(tableName: string): Promise<readonly AgreedBlock[]> {
    const parts = await readSnapshot(this.#deps, (tx) =>
      this.#parts.find({ table: tableName }, { ...SNAPSHOT, session: tx, sort: ORDER }).toArray(),
    );
    const blocks = new Map<string, Uint8Array[]>();
    for (const { block, data } of parts) {
      const id = block.toHexString();
      blocks.set(id, [...(blocks.get(id) ?? []), data.value()]);
    }
    return Array.from(blocks, ([id, data]) => ({ id, bytes: joined(data) }));
  }

  async replace(
    tableName: string,
    ids: readonly string[],
    blocks: readonly Uint8Array[],
  ): Promise<void> {
    const replaced = { table: tableName, block: { $in: ids.map((id) => new ObjectId(id)) } };
    await writeTogether(this.#deps, async (tx) => {
      const projection = { block: 1, at: 1 } as const;
      const parts = await this.#parts
        .find(replaced, { session: tx, sort: ORDER, projection })
        .toArray();
      if (new Set(parts.map(({ block }) => block.toHexString())).size < ids.length) return;
      const at = parts[0]?.at ?? FIRST;
      await this.#parts.deleteMany(replaced, { session: tx });
      const added = blocks.flatMap((block) => partsOfBlock(tableName, block, at));
      const documents = added.map((document, part) => ({ ...document, part }));
      if (documents.length > 0) await this.#parts.insertMany(documents, { session: tx });
    });
  }

  async clear(tableNames: readonly string[]): Promise<void> {
    await writeTogether(this.#deps, (tx) => clearAgreedBlocks(this.#deps.db, tableNames, tx));
  }
}

/** Removes the blocks of tables within the caller's transaction. */
export async function clearAgreedBlocks(
  db: Db,
  tableNames: readonly string[],
  tx: ClientSession,
): Promise<void> {
  await partsOf(db).deleteMany({ table: { $in: [...tableNames] } }, { session: tx });
}

/** Adds a block within the caller's transaction. */
export async function addAgreedBlock(
  db: Db,
  tableName: string,
  block: Uint8Array,
  tx: ClientSession,
): Promise<void> {
  await partsOf(db).insertMany(partsOfBlock(tableName, block, ADDED_NOW), { session: tx });
}

function partsOf(db: Db): Collection<PartDocument> {
  return db.collection(AGREED.name);
}

export function partsOfBlock(table: string, bytes: Uint8Array, at: Timestamp): PartDocument[] {
  const block = new ObjectId();
  const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  return Array.from({ length: count }, (_, part) => {
    const data = new Binary(bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES));
    return { table, at, part, block, data };
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let length = 0;
  for (const part of parts) {
    bytes.set(part, length);
    length += part.length;
  }
  return bytes;
}
