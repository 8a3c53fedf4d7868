// Connects to MongoDB, and checks that the deployment can do what repsync needs.
import {
  Db,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoMissingDependencyError,
  MongoServerSelectionError,
  type ServerDescription,
} from "mongodb";
import { AppError, codeOf } from "../../../domain/shared/errors.ts";
import { type CallLimit, START_CALLS } from "../../../ports/documents.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import { certificateProblem, isOfCertificate } from "../../../ports/storage.ts";
import { DURABLE } from "./collections.ts";
import { Deadline, retry, type Stopwatch, TimeUp } from "./deadline.ts";
import { hasCode, SERVERS_HINT, toAppError } from "./errors.ts";
import { PrimaryWatch } from "./operations.ts";

/** At start: when silent hosts are logged, and when the start ends. D-10.4. */
const NOTICE_MS = 4_000;
const REACH: CallLimit = { triesMs: 20_000, endMs: 20_000 };

/** The URL may change these. */
const TUNABLE: MongoClientOptions = {
  appName: "repsync",
  // Of one try; a call tries several times until its deadline.
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 5_000,
  // A frozen server is noticed, and its calls end, after this time and the one above.
  heartbeatFrequencyMS: 2_000,
  // Per server; a page uses up to two.
  maxPoolSize: 64,
  // For a free connection, in one try.
  waitQueueTimeoutMS: 5_000,
};
/** The promises of the ports rest on these, whatever the URL says. */
const FIXED: MongoClientOptions = {
  readPreference: "primary",
  retryWrites: true,
  // How values are read.
  raw: false,
  promoteValues: true,
  promoteLongs: true,
  promoteBuffers: false,
  bsonRegExp: false,
  useBigInt64: false,
};

/** MongoDB 5.0, the first version with snapshot reads outside of transactions. */
const MIN_WIRE_VERSION = 13;
const AUTHENTICATION_FAILED = 18;
/** Names that MongoDB takes on every system, without percent-encoding. */
const DATABASE_NAME = /^[^\s%."$*<>:|?\\/]{1,63}$/;
const SYSTEM_DATABASES: ReadonlySet<string> = new Set(["admin", "config", "local"]);

interface Connection {
  readonly client: MongoClient;
  readonly db: Db;
  readonly primaryWatch: PrimaryWatch;
}

/**
 * Connects and prepares, both again while they fail for passing reasons. Throws `invalid_request` for an unusable URL or certificate,
 * and `store_unavailable` when the deployment cannot be reached, refuses the credentials, or is neither a replica set nor a sharded
 * cluster. No message holds the URL.
 */
export async function connect(
  url: string,
  { clock, logger }: { readonly clock: Stopwatch; readonly logger: Logger },
  prepare: (db: Db) => Promise<void> = async () => {},
): Promise<Connection> {
  const databaseName = readDatabaseName(url);
  // Without credentials.
  const [, hosts = ""] = /^mongodb(?:\+srv)?:\/\/(?:[^/?]*@)?([^/?]+)/.exec(url) ?? [];
  const notice = `MongoDB at ${hosts} cannot be reached yet; it is tried for ${REACH.endMs / 1000} s`;
  const timer = setTimeout(() => logger.warn(notice), NOTICE_MS);
  const deadline = new Deadline(clock, START_CALLS);
  try {
    const connection = await reach(url, databaseName, clock);
    clearTimeout(timer);
    try {
      await retry(deadline, () => prepare(connection.db));
    } catch (error) {
      await connection.client.close();
      throw error;
    }
    return connection;
  } catch (error) {
    throw toConnectError(error, hosts, url);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws the last failure to find a server when the time is over, or `TimeUp` where there was none. */
async function reach(url: string, databaseName: string, clock: Stopwatch): Promise<Connection> {
  let failure: unknown;
  const attempt = async () => {
    const client = makeClient(url);
    try {
      // Not `client.db()`: the read concern of the URL would be that of every read, also in a snapshot.
      const db = new Db(client, databaseName, { writeConcern: DURABLE });
      const primaryWatch = new PrimaryWatch(client, db);
      await client.connect();
      await checkDeployment(db);
      return { client, db, primaryWatch };
    } catch (error) {
      failure = error;
      await client.close();
      throw tlsProblem(error) ?? error;
    }
  };
  try {
    return await retry(new Deadline(clock, REACH), attempt);
  } catch (error) {
    const isLate = error instanceof TimeUp && failure instanceof MongoServerSelectionError;
    throw isLate ? failure : error;
  }
}

async function checkDeployment(db: Db): Promise<void> {
  const hello = await db.command({ hello: 1 });
  const isSharded = hello["msg"] === "isdbgrid";
  if (!isSharded && hello["setName"] === undefined) {
    throw new AppError("store_unavailable", "MongoDB is a single server without transactions", {
      hint: "Start mongod with --replSet rs0 and run rs.initiate() once",
    });
  }
  if (Number(hello["maxWireVersion"]) < MIN_WIRE_VERSION) {
    throw new AppError("store_unavailable", "MongoDB is older than 5.0", { hint: "Upgrade it" });
  }
}

function readDatabaseName(url: string): string {
  const name = /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^/?]*)/.exec(url)?.[1] ?? "";
  if (!DATABASE_NAME.test(name) || SYSTEM_DATABASES.has(name)) {
    // Not the name itself, which may be part of a password.
    const state = name === "" ? "none" : "none that can be used (in a password, write / as %2F)";
    throw new AppError(
      "invalid_request",
      `The MongoDB URL needs a database name of its own, as in mongodb://host/repsync?replicaSet=rs0: it has ${state}`,
    );
  }
  return name;
}

function makeClient(url: string): MongoClient {
  const isInUrl = (name: string) => new RegExp(`[?&]${name}=`, "i").test(url);
  const tuned = Object.entries(TUNABLE).filter(([name]) => !isInUrl(name));
  try {
    return new MongoClient(url, { ...Object.fromEntries(tuned), ...FIXED });
  } catch (error) {
    // Errors of the URL parser hold the URL; errors of the driver name an option.
    const detail = error instanceof MongoError ? `: ${error.message}` : "";
    throw new AppError("invalid_request", `The MongoDB URL cannot be read${detail}`);
  }
}

function toConnectError(error: unknown, hosts: string, url: string): AppError {
  const unavailable = (message: string, hint: string) =>
    new AppError("store_unavailable", message, { cause: error, hint });
  if (hasCode(error, AUTHENTICATION_FAILED)) {
    return unavailable("MongoDB refused the credentials of the URL", SERVERS_HINT);
  }
  if (serversOf(error).some(({ type }) => type === "RSGhost")) {
    const message = "MongoDB runs with --replSet but without a replica set";
    return unavailable(message, "Run rs.initiate() once");
  }
  if (error instanceof MongoMissingDependencyError) {
    const text = `The MongoDB URL asks for what needs the package ${error.dependencyName}, which is not installed`;
    return new AppError("invalid_request", text, { cause: error });
  }
  const isOutOfReach = error instanceof MongoServerSelectionError || error instanceof TimeUp;
  if (!isOutOfReach) return toAppError(error);
  const hint = closingHint(error, url) ?? SERVERS_HINT;
  return unavailable(`MongoDB at ${hosts} cannot be reached`, hint);
}

/** The servers among which none could be selected; empty for other errors. */
function serversOf(error: unknown): readonly ServerDescription[] {
  const isOfSelection = error instanceof MongoServerSelectionError;
  return isOfSelection ? [...(error.reason?.servers.values() ?? [])] : [];
}

// TLS problems that another try does not mend: certificates that prove nothing, and unusable files. D-10.4.

/** Codes of a readable file without a certificate or key. */
const CONTENT = /^ERR_(?:OSSL|BORINGSSL)/;
const AUTHORITIES = "tlsCAFile in STORAGE_URL, or NODE_EXTRA_CA_CERTS,";

/** The problem of the URL, or of all servers tried; null where another try may succeed. */
function tlsProblem(error: unknown): AppError | null {
  const isOfFile = error instanceof Error && "path" in error && "syscall" in error;
  const fileCode = isOfFile ? codeOf(error) : null;
  if (fileCode !== null) return fileProblem(error, fileCode);
  const codes = errorsOf(error).map(({ cause }) => codeOf(cause) ?? "");
  const [code] = codes;
  if (code === undefined) return null;
  if (codes.every((each) => CONTENT.test(each))) return fileProblem(error, code);
  return codes.every(isOfCertificate) ? certificateProblem(code, AUTHORITIES, error) : null;
}

/** A hint for servers that close each connection; null for other errors. */
function closingHint(error: unknown, url: string): string | null {
  const errors = errorsOf(error);
  const closed = / closed$|disconnected before secure TLS/;
  const isClosed = errors.length > 0 && errors.every(({ message }) => closed.test(message));
  if (!isClosed) return null;
  const hasTls = /^mongodb\+srv:|[?&](?:tls|ssl)=true/i.test(url);
  return hasTls
    ? "It closes the connection: it may offer no TLS, or ask for a certificate of the client (tlsCertificateKeyFile in STORAGE_URL)"
    : "It closes the connection: if it asks for TLS, STORAGE_URL needs tls=true";
}

function errorsOf(selection: unknown): readonly Error[] {
  return serversOf(selection).flatMap(({ error }) => error ?? []);
}

function fileProblem(cause: unknown, code: string): AppError {
  const text = `A file that STORAGE_URL names for TLS cannot be used: ${code}`;
  const hint = "Look at tlsCAFile and tlsCertificateKeyFile in STORAGE_URL";
  return new AppError("invalid_request", text, { cause, hint });
}
