import { AppError } from "../../domain/shared/errors.ts";
import { checkFormat, type StoreIdentity } from "../../domain/shared/store-format.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { Dump } from "../../ports/copies/store-dump.ts";
import { REQUEST_CALLS, SYNC_CALLS } from "../../ports/documents.ts";
import type { Logger } from "../../ports/runtime/runtime.ts";
import type { FullStorage, StoreOptions } from "../../ports/storage.ts";
import type { TableStore } from "../../ports/tables/table-store.ts";
import { dumpDatabase } from "./copies/database-dump.ts";
import { DeleteRecorder } from "./deletes/delete-recorder.ts";
import { MongoTombstones } from "./deletes/tombstones.ts";
import { MongoDocuments } from "./documents/mongo-documents.ts";
import { makeCollections } from "./driver/collections.ts";
import { connect } from "./driver/connection.ts";
import { Deadline, type Stopwatch, TimeUp } from "./driver/deadline.ts";
import { asAppErrors, SERVERS_HINT, toAppError } from "./driver/errors.ts";
import { HOLDERS, Holder } from "./driver/holders.ts";
import { type StoreClock, type StoreDeps, TIME } from "./driver/operations.ts";
import { prepareFacts, readFacts } from "./driver/store-facts.ts";
import { type VersionedDeps, Versions } from "./driver/versions.ts";
import { findDisturbed, prepareTables } from "./tables/prepare.ts";
import { examineTables } from "./tables/table-fit.ts";
import { TableReader } from "./tables/table-reader.ts";

interface MongoStorageOptions extends StoreOptions {
  /** `mongodb://` or `mongodb+srv://` with a database name. */
  readonly url: string;
  readonly clock: Stopwatch;
  /** The time of sessions and lookups; the server's by default. All instances of a database must agree on it. */
  readonly storeClock?: StoreClock;
  /** Told of what happens beside calls. */
  readonly logger?: Logger;
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Opens a database as a store. Throws `invalid_request` for a URL or store that this program cannot use, `schema_conflict`, before any
 * write, when the database cannot have `tables`, and `store_unavailable`. No message holds the URL.
 */
export async function openMongoStorage(options: MongoStorageOptions): Promise<FullStorage> {
  const { url, clock, storeClock = null, logger = SILENT, tables = [], collections = [] } = options;
  let identity: StoreIdentity = { deploymentId: "", isNew: false };
  const { client, db, primaryWatch } = await connect(url, { clock, logger }, async (database) => {
    const examine = () => examineTables(database, tables);
    const found = await prepareFacts(database, { ...options, examine });
    // An earlier try may have made the store.
    identity = { ...found, isNew: identity.isNew || found.isNew };
  });
  const deps = { client, db, clock, primaryWatch, storeClock, callLimit: SYNC_CALLS };
  const storage = new MongoStorage({ ...deps, logger }, identity);
  try {
    await storage.documents.declare(collections);
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

class MongoStorage implements FullStorage {
  readonly identity: StoreIdentity;
  readonly documents: MongoDocuments;
  readonly tables: MongoTableStore;
  readonly tombstones: MongoTombstones;
  readonly #deps: StoreDeps;
  readonly #recorder: DeleteRecorder;
  readonly #holder: Holder;
  #closing: Promise<void> | undefined;

  constructor(
    { logger, ...deps }: StoreDeps & { readonly logger: Logger },
    identity: StoreIdentity,
  ) {
    this.identity = identity;
    const versioned = { ...deps, versions: new Versions(deps.db) };
    this.documents = new MongoDocuments({ ...versioned, callLimit: REQUEST_CALLS });
    this.#deps = deps;
    this.#holder = new Holder(deps.db);
    this.#recorder = new DeleteRecorder(deps, logger);
    this.tables = new MongoTableStore(versioned, this.#recorder);
    this.tombstones = new MongoTombstones(deps, this.#recorder);
  }

  async hold(): Promise<void> {
    const { db } = this.#deps;
    await asAppErrors(makeCollections(db, [HOLDERS]));
    await asAppErrors(this.#holder.begin());
    checkFormat(await asAppErrors(readFacts(db)), false);
  }

  async dump(): Promise<Dump> {
    // The deletes before the snapshot need their tombstones in it.
    await this.#recorder.settle();
    return await dumpDatabase(this.#deps, this.documents.collections);
  }

  async ping(timeoutMs: number): Promise<void> {
    const { clock, db } = this.#deps;
    const deadline = new Deadline(clock, { triesMs: timeoutMs, endMs: timeoutMs });
    try {
      // The command `ping` needs no rights, so its answer would say too little.
      await deadline.race(db.collection(TIME.name).findOne());
    } catch (error) {
      if (!(error instanceof TimeUp)) throw toAppError(error);
      const message = `MongoDB did not answer within ${timeoutMs} ms`;
      throw new AppError("store_unavailable", message, { hint: SERVERS_HINT });
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#recorder.stop(), this.#holder.end()]).then(() =>
      this.#deps.client.close(),
    );
    return this.#closing;
  }
}

export class MongoTableStore extends TableReader implements TableStore {
  readonly #deps: VersionedDeps;
  readonly #recorder: DeleteRecorder;

  constructor(deps: VersionedDeps, recorder: DeleteRecorder) {
    super(deps);
    this.#deps = deps;
    this.#recorder = recorder;
  }

  stampsOthers(): boolean {
    return false;
  }

  async prepare(tables: readonly Table[]): Promise<void> {
    await prepareTables(this.#deps.db, this.#deps.clock, tables);
    await this.#recorder.prepare(tables);
  }

  async disturbed(tables: readonly Table[]): Promise<readonly Table[]> {
    return await asAppErrors(findDisturbed(this.#deps.db, tables));
  }

  async settled(table: Table): Promise<void> {
    if (table.deletes) await this.#recorder.caughtUp(table);
  }
}
