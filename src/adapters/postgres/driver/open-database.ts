// Connects, and checks that the server can keep repsync's promises. D-12.2.
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError, orElse } from "../../../domain/shared/errors.ts";
import { type CallLimit, START_CALLS } from "../../../ports/documents.ts";
import type { Clock, Logger } from "../../../ports/runtime/runtime.ts";
import { certificateProblem, isOfCertificate } from "../../../ports/storage.ts";
import { BunDriver, type Driver } from "./bun-driver.ts";
import { PostgresDatabase } from "./database.ts";
import { Failure, isPassing, unavailable } from "./errors.ts";
import { SCHEMA } from "./schema.ts";
import { quoted } from "./sql.ts";

const MAX_CONNECTIONS = 20;
const LEAST_VERSION = 150_000;
/** When a silent host is logged at start. D-10.4. */
const NOTICE_MS = 4_000;
const PAUSE_MS = 250;

export interface OpenOptions {
  readonly url: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly storeClock?: Pick<Clock, "nowMs"> | undefined;
  readonly callLimit?: CallLimit;
  /** Told of a slow start. Without a logger a server that does not answer yet is an error at once. */
  readonly logger?: Logger;
}

const RULES_HINT =
  "Its pg_hba.conf decides: it may ask for TLS (sslmode=require) or for none (sslmode=disable). The server's log says more";

/** What a server tells of itself and the database, by name. */
type ServerFacts = Readonly<Record<string, unknown>>;

const setting = (name: string) => `pg_catalog.current_setting('${name}')`;
/** Reads `ServerFacts`. Names are qualified, as the role's `search_path` counts here. */
const READ_SERVER_FACTS = `
select pg_catalog.json_build_object('version', ${setting("server_version_num")}::integer, 'shown', ${setting("server_version")},
  'encoding', ${setting("server_encoding")}, 'fsync', ${setting("fsync")}, 'isStandby', pg_catalog.pg_is_in_recovery(), 'readOnly', ${setting("transaction_read_only")},
  'hasSchema', pg_catalog.to_regnamespace($1::pg_catalog.text) is not null,
  'name', pg_catalog.current_database(), 'role', current_user, 'searchPath', ${setting("search_path")},
  'deadlockMs', (select setting::integer from pg_catalog.pg_settings where name operator(pg_catalog.=) 'deadlock_timeout'))::text`;
/** A `search_path` that names `pg_catalog`, but not first. */
const CATALOG_BEHIND = /,\s*"?pg_catalog"?\s*(?:,|$)/;
/** The schema with the name of the role. */
const OWN_FIRST = /"?\$user"?/;

export interface OpenDatabase {
  readonly database: PostgresDatabase;
  /** The schema of the registry's tables. */
  readonly schema: string;
}

/** Throws `invalid_request` for an unusable address or server, `store_unavailable`. No message holds the address. */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const address = readAddress(options.url);
  const { driver, serverFacts } = await reach(address, options);
  try {
    const problem = problemOf(serverFacts, address.schema);
    if (problem !== null) throw new AppError("invalid_request", problem);
    const deadlockMs = Number(serverFacts["deadlockMs"]);
    const role = String(serverFacts["role"]);
    const searchPath = searchPathOf(String(serverFacts["searchPath"]), role);
    const { schema } = address;
    const to = `to ${quoted(role)}`;
    const grants = {
      toMake: `Let an owner say: grant create on database ${quoted(String(serverFacts["name"]))} ${to}; grant usage, create on schema ${quoted(schema)} ${to}`,
      toOwn: `Let a superuser say: grant OWNER ${to}, where OWNER is the role that owns it`,
    };
    const timesTransactions = Number(serverFacts["version"]) >= 170_000;
    const found = { driver, searchPath, deadlockMs, timesTransactions, grants };
    const database = new PostgresDatabase({ ...options, ...found });
    return { database, schema };
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** The `search_path` that transactions have behind `pg_catalog`; null where the role's own will do. */
function searchPathOf(path: string, role: string): string | null {
  if (role === SCHEMA && OWN_FIRST.test(path)) {
    // Triggers of an application would find a table of repsync for theirs. What it keeps in that schema they find last.
    return `${path.replace(OWN_FIRST, "pg_catalog")}, ${SCHEMA}`;
  }
  return CATALOG_BEHIND.test(path) ? path : null;
}

/** Why the server cannot be used; null where it can. */
export function problemOf(found: ServerFacts, schema: string): string | null {
  if (Number(found["version"]) < LEAST_VERSION) {
    return `PostgreSQL must be 15 or newer, and this is ${found["shown"]}`;
  }
  if (found["encoding"] !== "UTF8") {
    return `The encoding of the database must be UTF8, and this is ${found["encoding"]}`;
  }
  if (found["isStandby"] === true)
    return "The server is a standby: name the primary in STORAGE_URL";
  if (found["readOnly"] === "on") {
    return "Transactions are read-only here, by default_transaction_read_only: set it to off for the role or the database";
  }
  if (found["fsync"] !== "on") {
    return "The server has fsync = off, and would lose what it has confirmed: set it to on";
  }
  if (found["hasSchema"] !== true) {
    return `The database has no schema "${schema}": create it, or name another one with ?schema=`;
  }
  return null;
}

/** Connects; waits for a server that is not there yet. */
async function reach(address: Address, { clock, logger }: OpenOptions): Promise<FirstConnection> {
  if (logger === undefined) return await firstConnection(address);
  const { host } = new URL(address.url);
  const notice = `PostgreSQL at ${host} cannot be reached yet; it is tried for ${START_CALLS.triesMs / 1_000} s`;
  using _notice = setTimeout(() => logger.warn(notice), NOTICE_MS);
  const lastMs = clock.monotonicMs() + START_CALLS.triesMs - PAUSE_MS;
  for (;;) {
    try {
      return await firstConnection(address);
    } catch (error) {
      if (!isAppError(error, "store_unavailable") || clock.monotonicMs() > lastMs) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

interface FirstConnection {
  readonly driver: Driver;
  readonly serverFacts: ServerFacts;
}

/** Connects, by TLS where the server offers it, unless the address says otherwise. */
async function firstConnection(address: Address): Promise<FirstConnection> {
  const { sslMode } = address;
  const schemes = sslMode === "disable" ? [false] : sslMode === "prefer" ? [true, false] : [true];
  for (const [i, isEncrypted] of schemes.entries()) {
    const tls = isEncrypted ? { rejectUnauthorized: sslMode === "verify-full" } : false;
    const driver = new BunDriver({ url: address.url, tls, maxConnections: MAX_CONNECTIONS });
    try {
      return { driver, serverFacts: await readServerFacts(driver, address.schema) };
    } catch (error) {
      await driver.close();
      if (i + 1 < schemes.length && error instanceof Failure && isPassing(error)) continue;
      throw refusal(error, address);
    }
  }
  throw new Error("No way to connect");
}

async function readServerFacts(driver: Driver, schema: string): Promise<ServerFacts> {
  const connection = await driver.connect();
  try {
    const [[serverFacts] = []] = await connection.query(READ_SERVER_FACTS, [quoted(schema)]);
    return JSON.parse(String(serverFacts)) as ServerFacts;
  } finally {
    connection.release(true);
  }
}

function refusal(error: unknown, { url, sslMode }: Address): unknown {
  if (!(error instanceof Failure)) return error;
  const refused = (text: string, hint?: string) =>
    new AppError("invalid_request", text, hint === undefined ? {} : { hint });
  if (error.code === "ERR_POSTGRES_TLS_NOT_AVAILABLE")
    return refused(`The server offers no TLS, which sslmode=${sslMode} asks for`);
  if (isOfCertificate(error.code)) {
    return certificateProblem(error.code, "NODE_EXTRA_CA_CERTS", error);
  }
  if (error.state === "3D000") return refused("There is no such database on the server");
  if (error.state === "28000") {
    const text = "PostgreSQL does not let the user of STORAGE_URL in, or not in this way";
    return refused(text, RULES_HINT);
  }
  if (error.state?.startsWith("28"))
    return refused("PostgreSQL refuses the user or password of STORAGE_URL");
  const told = unavailable(error);
  if (error.state !== null) return told;
  const text = `PostgreSQL at ${new URL(url).host} cannot be reached, or does not answer`;
  return new AppError(told.kind, text, { cause: error, hint: told.hint });
}

interface Address {
  /** For the client, without repsync's own parameters. */
  readonly url: string;
  readonly schema: string;
  readonly sslMode: SslMode;
}

const SSL_MODES = ["disable", "prefer", "require", "verify-full"] as const;
type SslMode = (typeof SSL_MODES)[number];

/** Throws `invalid_request`, without the address, as it has a password. */
export function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress = url !== null && /^postgres(?:ql)?:$/.test(url.protocol);
  if (!isAddress || url.hostname === "" || url.pathname.length < 2 || url.hash !== "") {
    refuse("must be postgres://<user>:<password>@<host>/<database>");
  }
  const login = `${url.username}${url.password}${url.pathname}`;
  if (orElse(null, () => decodeURIComponent(login)) === null)
    refuse("must write % as %25 in its user, password and database");
  const { searchParams } = url;
  // Unknown names are not repeated: a password may have the question mark, and they are its end.
  const isKnown = [...searchParams.keys()].every((name) => ["schema", "sslmode"].includes(name));
  if (!isKnown) refuse("takes schema= and sslmode= behind its question mark, and nothing else");
  const mode = searchParams.get("sslmode") ?? "prefer";
  const sslMode = SSL_MODES.find((known) => known === mode);
  if (sslMode === undefined) refuse(`takes for sslmode one of ${SSL_MODES.join(", ")}`);
  const schema = searchParams.get("schema") || "public";
  if (schema === SCHEMA)
    refuse(`takes a schema other than ${SCHEMA}, which repsync keeps its own in`);
  if (/^(?:pg_|information_schema$)/.test(schema)) refuse("takes no schema of the server's own");
  url.search = "";
  url.protocol = "postgres:";
  return { url: url.href, schema, sslMode };
}

function refuse(problem: string): never {
  throw new AppError("invalid_request", `The address of PostgreSQL in STORAGE_URL ${problem}`);
}
