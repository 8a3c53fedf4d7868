import type { DocumentStore, Transaction } from "../../../src/ports/documents.ts";
import type { TableWrites } from "../../../src/ports/tables/table-writes.ts";

export type WriteTable = TableWrites["write"];

/** The same documents, whose bodies have another transaction. */
export function withTransactions(
  documents: DocumentStore,
  change: (tx: Transaction) => Transaction,
): DocumentStore {
  return {
    prepare: (collections) => documents.prepare(collections),
    read: (options, body) => documents.read(options, body),
    transact: (options, body) => documents.transact(options, (tx) => body(change(tx))),
  };
}

/** The same documents, whose bodies write rows in another way. */
export function withWrites(
  documents: DocumentStore,
  change: (write: WriteTable) => WriteTable,
): DocumentStore {
  return withTransactions(documents, (tx) => {
    const { tables } = tx;
    const write = change((table, writes, rule) => tables.write(table, writes, rule));
    return changed(tx, { tables: changed(tables, { write }) });
  });
}

/** The object with other members. */
export function changed<T extends object>(object: T, members: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
