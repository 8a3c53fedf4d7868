import { AppError } from "../domain/shared/errors.ts";
import type { StoreIdentity } from "../domain/shared/store-format.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { StoreCopies } from "./copies/store-copies.ts";
import type { AnyCollection, DocumentStore } from "./documents.ts";
import type { TableStore, Tombstones } from "./tables/table-store.ts";

export interface StoreOptions {
  /** The tables that `tables.prepare()` will be called with: where the store cannot have one, nothing is written to it. D-11.4. */
  readonly tables?: readonly Table[];
  readonly collections?: readonly AnyCollection[];
  readonly isFilling?: boolean;
}

/** An open store, with everything that repsync keeps. */
export interface FullStorage extends StoreCopies {
  readonly identity: StoreIdentity;
  /** The documents of the collections that the store was opened with. */
  readonly documents: DocumentStore;
  readonly tables: TableStore;
  readonly tombstones: Tombstones;

  /** Resolves when the store answers a trivial read; throws `store_unavailable` otherwise, within `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>;

  /** Ends open work and closes every connection. Idempotent. Nothing may be called after it. */
  close(): Promise<void>;

  /** Marks the store as used by a service until `close()`: nobody fills it. Throws `invalid_request` when somebody does. D-10.7. */
  hold(): Promise<void>;

  /** Tells each failure that a damaged file causes from now on; absent for servers, which watch over their files. D-11.6. */
  watchDamage?(onDamage: (failure: AppError) => void): void;

  /** Reads the whole file; true when it is damaged. Absent as `watchDamage`. Throws `store_unavailable`. D-11.6. */
  isDamaged?(): Promise<boolean>;
}

/** Codes of errors about a certificate that the client cannot trust. D-10.4, D-12.2. */
const CERTIFICATE = /CERT|SIGNATURE|ISSUER|HOSTNAME/;
/** Hints for errors that no authority mends. */
const HINTS: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "Name the server in STORAGE_URL as its certificate does",
  CERT_HAS_EXPIRED: "Renew the server's certificate",
};

export function isOfCertificate(code: string | null): code is string {
  return code !== null && CERTIFICATE.test(code);
}

/** `authorities` is what names a file with authorities of one's own. */
export function certificateProblem(code: string, authorities: string, cause: unknown): AppError {
  const hint = HINTS[code] ?? `${authorities} names a file with an authority of your own`;
  const text = `The server's certificate does not prove that it is the one of STORAGE_URL: ${code}`;
  return new AppError("invalid_request", text, { cause, hint });
}
