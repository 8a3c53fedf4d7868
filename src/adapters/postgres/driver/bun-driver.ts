// Connections of Bun's client. A transaction reserves one, so that no other statement comes between its messages. Each connection has a
// client of its own, as a client of many opens all at once. The one used last serves first, so that no more are open than needed.
import { type ReservedSQL, SQL } from "bun";
import { Failure } from "./errors.ts";

/** A parameter; a list is a text, `textList`. */
export type Parameter = string | number | boolean | null;

/** Rows by position: int8 and decimals as text, bytea as bytes. */
export type Lines = readonly (readonly unknown[])[];

export interface Connection {
  /** Sends a statement at once, without waiting for earlier ones. Throws `Failure`. */
  query(text: string, parameters?: readonly Parameter[]): Promise<Lines>;
  /** Sends statements without parameters; resolves to the tag of a single one, such as `COMMIT`. */
  script(text: string): Promise<string>;
  /** Gives the connection back; an unusable one is closed. */
  readonly release: (isUsable: boolean) => void;
}

export interface Driver {
  /** Throws `Failure`. */
  connect(): Promise<Connection>;
  close(): Promise<void>;
}

interface DriverOptions {
  readonly url: string;
  readonly tls: { readonly rejectUnauthorized: boolean } | false;
  readonly maxConnections: number;
}

const CONNECT_SECONDS = 5;
const IDLE_SECONDS = 60;
const CLOSE_SECONDS = 1;

export class BunDriver implements Driver {
  readonly #options: DriverOptions;
  readonly #clients = new Set<SQL>();
  #idle: SQL[] = [];
  readonly #waiting: ((client: SQL | null) => void)[] = [];
  #isClosed = false;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  async connect(): Promise<Connection> {
    const client = await this.#client();
    if (client === null) throw new Failure(new Error("The store is closed"));
    try {
      const reserved = await client.reserve();
      return connectionOf(reserved, (isUsable) => {
        if (isUsable) reserved.release();
        this.#take(client, isUsable);
      });
    } catch (error) {
      this.#take(client, false);
      throw new Failure(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const next of this.#waiting.splice(0)) next(null);
    await Promise.all(Array.from(this.#clients, (client) => end(client, CLOSE_SECONDS)));
  }

  async #client(): Promise<SQL | null> {
    if (this.#isClosed) return null;
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#clients.size < this.#options.maxConnections) return this.#make();
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }

  #make(): SQL {
    const { url, tls } = this.#options;
    const client = new SQL({
      url,
      tls,
      max: 1,
      connectionTimeout: CONNECT_SECONDS,
      idleTimeout: IDLE_SECONDS,
      // Behind a pooler another client's statement may have the same name. Costs a page a tenth.
      prepare: false,
      connection: { application_name: "repsync" },
    });
    this.#clients.add(client);
    return client;
  }

  /** Takes a client back. When it is broken, idle ones may be broken silently, too. */
  #take(client: SQL, isUsable: boolean): void {
    const next = this.#waiting.shift();
    if (isUsable) {
      if (next === undefined) this.#idle.push(client);
      else next(client);
      return;
    }
    for (const broken of [client, ...this.#idle]) {
      this.#clients.delete(broken);
      void end(broken, 0);
    }
    this.#idle = [];
    next?.(this.#make());
  }
}

async function end(client: SQL, seconds: number): Promise<void> {
  await client.close({ timeout: seconds }).catch(() => {});
}

function connectionOf(sql: ReservedSQL, release: Connection["release"]): Connection {
  const failing = (error: unknown): never => {
    throw new Failure(error);
  };
  const query = async (text: string, parameters: readonly Parameter[] = []) =>
    await sql
      .unsafe(text, [...parameters])
      .values()
      .execute();
  const script = async (text: string) => await sql.unsafe(text).simple().execute();
  return {
    query: (text, parameters) => query(text, parameters).catch(failing),
    script: (text) => script(text).then(({ command }) => String(command), failing),
    release,
  };
}
