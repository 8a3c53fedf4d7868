import type { ClientSession } from "mongodb";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import { type ChangedNames, joinedNames, type VersionedDeps } from "../driver/versions.ts";
import { changeRowsBy, removeRowsBy } from "./rows-by-value.ts";
import { TableWrite } from "./table-write.ts";

/** The writes of a body in order, over all its attempts. */
export class BodyWrites {
  readonly #deps: VersionedDeps;
  readonly #filling: Set<string>;
  readonly #tableWrites: TableWrite[] = [];
  /** True once the body has tried to write or change rows. */
  hasRows = false;

  /** `filling`: names of tables whose last write had new rows only. */
  constructor(deps: VersionedDeps, filling: Set<string>) {
    this.#deps = deps;
    this.#filling = filling;
  }

  /** The write with this number, with what earlier attempts have learned. */
  at(number: number, table: Table): TableWrite {
    const known = this.#tableWrites[number];
    if (known?.table === table) return known;
    const write = new TableWrite(this.#deps, this.#filling, table);
    this.#tableWrites[number] = write;
    return write;
  }

  begin(tx: ClientSession): BodyTables {
    return new BodyTables(this.#deps, this, tx);
  }

  /** To be called after the commit. */
  end(): void {
    for (const write of this.#tableWrites) write.end();
  }
}

/** The rows that one attempt writes. */
export class BodyTables implements TableWrites {
  readonly #deps: VersionedDeps;
  readonly #bodyWrites: BodyWrites;
  readonly #tx: ClientSession;
  #begun = 0;
  readonly #changedTables = new Set<string>();
  #people: ChangedNames = [];
  #excludesPushes = false;

  constructor(deps: VersionedDeps, bodyWrites: BodyWrites, tx: ClientSession) {
    this.#deps = deps;
    this.#bodyWrites = bodyWrites;
    this.#tx = tx;
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const tableWrite = this.#bodyWrites.at(this.#begun++, table);
    const hasAny = writes.length + (rule.deleted?.length ?? 0) > 0;
    this.#bodyWrites.hasRows ||= hasAny;
    const { people, ...written } = await tableWrite.write(writes, rule, this.#tx);
    if (written.changed + written.deleted > 0) this.#note(table, people);
    // A tombstone names a person even where no row was removed, and must not outlive an erasure.
    else if (rule.deleted !== undefined) this.#people = joinedNames(this.#people, people);
    return written;
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<void> {
    const { db } = this.#deps;
    const options = { session: this.#tx };
    this.#bodyWrites.hasRows = true;
    const count =
      fields === null
        ? await removeRowsBy(db, table, [column, value], options)
        : await changeRowsBy(db, table, [column, value], { fields, ...options });
    if (count > 0) this.#note(table, peopleOf(table, [column, value], fields));
  }

  async excludePushes(): Promise<void> {
    this.#excludesPushes = true;
    await this.#deps.versions.meetPushes(this.#tx);
  }

  /** Raises versions, also those of `others`. False when no row was written and no push excluded. */
  async finish(others: ChangedNames, lane: number): Promise<boolean> {
    const people = joinedNames(this.#people, others);
    const changes = { tables: this.#changedTables, people };
    await this.#deps.versions.raise(changes, { tx: this.#tx, lane });
    return this.#bodyWrites.hasRows || this.#excludesPushes;
  }

  #note({ name }: Table, people: ChangedNames): void {
    this.#changedTables.add(name);
    this.#people = joinedNames(this.#people, people);
  }
}

function peopleOf(
  table: Table,
  [column, value]: readonly [string, string],
  fields: Row | null,
): ChangedNames {
  if (!isOfPeople(table)) return [];
  if (column !== "username") return "everybody";
  const { username } = fields ?? {};
  return typeof username === "string" ? [value, username] : [value];
}
