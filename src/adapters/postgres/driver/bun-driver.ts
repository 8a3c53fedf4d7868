// Connections of Bun's own client. Each is reserved for as long as a transaction lasts: what is sent in one message is answered
// in its order, and nothing of others comes between.
import { type ReservedSQL, SQL } from "bun";
import { Failure } from "./errors.ts";

/** What statements take: lists are texts, `textList`. */
export type Parameter = string | number | boolean | null;

/** Rows by position: numbers of eight bytes and decimals as text, bytes as bytes. */
export type Lines = readonly (readonly unknown[])[];

export interface Connection {
  /** Sends a statement at once, also while others are under way. Throws `Failure`. */
  query(text: string, parameters?: readonly Parameter[]): Promise<Lines>;
  /** Sends statements without parameters, separated by semicolons; resolves to what the last one did, such as `COMMIT`. */
  script(text: string): Promise<string>;
  /** Gives it back; one that is broken, or in the middle of something, is closed. */
  release(isUsable: boolean): void;
}

export interface Driver {
  /** Waits for a connection. Throws `Failure`. */
  connect(): Promise<Connection>;
  close(): Promise<void>;
}

export interface DriverOptions {
  readonly url: string;
  readonly tls: { readonly rejectUnauthorized: boolean } | false;
  readonly maxConnections: number;
  readonly connectSeconds: number;
}

/** Nothing is sent yet. */
export function bunDriver(options: DriverOptions): Driver {
  const { url, tls, maxConnections, connectSeconds } = options;
  const sql = new SQL({
    url,
    tls,
    max: maxConnections,
    connectionTimeout: connectSeconds,
    idleTimeout: 60,
    connection: { application_name: "repsync" },
  });
  let isClosed = false;
  return {
    async connect() {
      try {
        return new BunConnection(await sql.reserve());
      } catch (error) {
        throw new Failure(error);
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await sql.close({ timeout: 1 }).catch(() => {});
    },
  };
}

class BunConnection implements Connection {
  readonly #sql: ReservedSQL;

  constructor(sql: ReservedSQL) {
    this.#sql = sql;
  }

  async query(text: string, parameters: readonly Parameter[] = []): Promise<Lines> {
    try {
      return await this.#sql
        .unsafe(text, [...parameters])
        .values()
        .execute();
    } catch (error) {
      throw new Failure(error);
    }
  }

  async script(text: string): Promise<string> {
    try {
      const done = await this.#sql.unsafe(text).simple().execute();
      return String((Array.isArray(done) && "command" in done ? done : done?.at?.(-1))?.command);
    } catch (error) {
      throw new Failure(error);
    }
  }

  release(isUsable: boolean): void {
    if (isUsable) this.#sql.release();
    else void this.#sql.close({ timeout: 0 }).catch(() => {});
  }
}
