// Real replica sets of mongod processes that cannot outlive the tests, not even after a SIGKILL.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { type Document, MongoClient } from "mongodb";
import { makeGuardedFolder } from "../temporary-folders.ts";
import { pollUntil } from "../time/poll-until.ts";
import { findMongod } from "./mongod-binary.mjs";

const SET_NAME = "repsync";
/** What a member is in a sharded cluster. */
export type ClusterRole = "configsvr" | "shardsvr";
const REPLY_DEADLINE_MS = 10_000;
/** Status of a program that ended by SIGKILL. */
const KILLED = 128 + 9;
const CLOSE_IDLE_FILES =
  "file_manager=(close_handle_minimum=250,close_idle_time=5,close_scan_interval=5)";

/** One mongod process of a set. */
export interface MongoMember {
  readonly port: number;
  /** Process id of the running mongod, or of the last one. */
  readonly pid: number;
  /** Ends it by SIGKILL and waits for its end. */
  kill(): Promise<void>;
  /** Starts it again on its port and data, and waits until it answers. */
  restart(): Promise<void>;
  /** Stops it as it is, connections open, and waits until it stands still; `thaw()` lets it go on. */
  freeze(): Promise<void>;
  thaw(): void;
}

/** A running replica set, all of it on 127.0.0.1. */
export interface ReplicaSet {
  readonly members: readonly MongoMember[];
  /** Connection string with every member. */
  uri(dbName: string): string;
  /** The member that takes writes now; waits for an election to end. */
  primary(): Promise<MongoMember>;
  /** Ends all members and removes their data. */
  stop(): Promise<void>;
}

/** Resolves when the primary is writable and the others follow. Fails when there is no mongod. */
export async function startReplicaSet(options: {
  members: 1 | 3;
  /** How long the others wait for a lost primary, in milliseconds (1,000). */
  electionTimeoutMs?: number;
  /** Size of an oplog that forgets within seconds, in MB; by default it is larger than any test needs. */
  oplogMb?: number;
  /** Asks for the credentials of the user `root`, whose password is `root`. */
  hasUsers?: boolean;
  /** Part of a sharded cluster, with a name that differs from those of its other parts. */
  part?: ClusterPart;
}): Promise<ReplicaSet> {
  const found = await findMongod();
  if ("reason" in found) throw new Error(`No mongod: ${found.reason}`);
  for (let tries = 1; ; tries++) {
    const set = await prepareSet(found.path, options.members, {
      oplogMb: options.oplogMb ?? null,
      hasUsers: options.hasUsers ?? false,
      part: options.part ?? null,
    });
    try {
      await set.start(options.electionTimeoutMs ?? 1_000);
      return set;
    } catch (error) {
      await set.stop();
      // Between finding a free port and using it another program may take it.
      if (tries === 3 || !String(error).includes("Address already in use")) throw error;
    }
  }
}

async function prepareSet(binary: string, count: number, options: Omit<MemberOptions, "port">) {
  const { part } = options;
  const name = part?.name ?? SET_NAME;
  const folder = makeGuardedFolder("repsync-mongo-");
  const ports = await findFreePorts(count);
  const members = ports.map((port) => new Member(binary, folder.path, { ...options, port }));
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  return {
    members,
    uri: (dbName: string) => `mongodb://${hosts.join()}/${dbName}?replicaSet=${name}`,
    primary: () => findPrimary(members),
    async start(electionTimeoutMs: number) {
      await Promise.all(members.map((member) => member.restart()));
      await initiate(members, electionTimeoutMs, part);
      const root = { createUser: "root", pwd: "root", roles: ["root"] };
      if (options.hasUsers) await command((await findPrimary(members)).port, root);
    },
    async stop() {
      await Promise.all(members.map((member) => member.kill()));
      folder.remove();
    },
  };
}

/** Runs a program, and ends it when standard input does; prints its process id, and ends with its status. */
export const RUN_UNTIL_EOF = `
trap "" INT TERM HUP
exec 3<&0
"$@" </dev/null >/dev/null 2>&1 3<&- &
mongod=$!
echo "$mongod"
( read -r _ <&3; kill -9 "$mongod" ) &
watch=$!
wait "$mongod"
status=$?
kill -9 "$watch"
exit "$status"`;

/** A replica set of a sharded cluster. */
export interface ClusterPart {
  readonly name: string;
  readonly role: ClusterRole;
}

interface MemberOptions {
  readonly port: number;
  readonly oplogMb: number | null;
  readonly hasUsers: boolean;
  readonly part: ClusterPart | null;
}

class Member implements MongoMember {
  readonly port: number;
  readonly #command: readonly string[];
  readonly #logFile: string;
  #pid = 0;
  #guard: ChildProcess | undefined;
  /** Held, so that it is not collected and closed: its end is mongod's. */
  #lifeline: ChildProcess["stdin"] | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(binary: string, folder: string, { port, oplogMb, hasUsers, part }: MemberOptions) {
    this.port = port;
    const data = join(folder, String(port));
    mkdirSync(data);
    const keyFile = join(folder, "key");
    if (hasUsers) writeFileSync(keyFile, "membersOfOneSet", { mode: 0o400 });
    this.#logFile = join(folder, `${port}.log`);
    this.#command = [
      binary,
      ...["--replSet", part?.name ?? SET_NAME, "--bind_ip", "127.0.0.1", "--port", String(port)],
      ...(part === null ? [] : [`--${part.role}`]),
      ...(hasUsers ? ["--keyFile", keyFile] : []),
      ...["--dbpath", data, "--logpath", this.#logFile, "--logappend", "--nounixsocket"],
      ...[
        "--wiredTigerCacheSizeGB",
        "0.25",
        "--oplogSize",
        String(oplogMb ?? 128),
        "--journalCommitInterval",
        "25",
      ],
      // The oplog is cut after checkpoints only.
      ...(oplogMb === null ? [] : ["--syncdelay", "1"]),
      ...["--setParameter", "diagnosticDataCollectionEnabled=false"],
      // A test's collections are files; without these, dropped and idle ones stay open for minutes,
      // and after some thousand tests mongod ends for want of file descriptors.
      ...["--setParameter", "minSnapshotHistoryWindowInSeconds=5"],
      ...["--wiredTigerEngineConfigString", CLOSE_IDLE_FILES],
      // Lets tests make one command fail, by the failCommand fail point.
      ...["--setParameter", "enableTestCommands=1"],
    ];
  }

  get pid(): number {
    return this.#pid;
  }

  async restart(): Promise<void> {
    await this.kill();
    const guard = spawn("sh", ["-c", RUN_UNTIL_EOF, "sh", ...this.#command], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#guard = guard;
    this.#lifeline = guard.stdin;
    this.#ended = new Promise((resolve) => {
      guard.once("exit", (status) => {
        this.#guard = undefined;
        if (status !== KILLED) console.error(`mongod ended with ${status}:\n${this.#logTail()}`);
        this.#lifeline?.destroy();
        resolve();
      });
    });
    this.#pid = 0;
    guard.stdout.once("data", (text: Buffer) => {
      this.#pid = Number(text.toString());
    });
    await pollUntil("the process id of a mongod", async () => this.#pid !== 0);
    await pollUntil(`mongod on port ${this.port} to answer`, async () => {
      if (!this.#guard) throw new Error(`mongod on port ${this.port} ended:\n${this.#logTail()}`);
      return await accepts(this.port);
    });
  }

  async kill(): Promise<void> {
    // The guard is mongod's parent, so while it runs the id is mongod's.
    if (this.#guard) process.kill(this.#pid, "SIGKILL");
    await this.#ended;
  }

  async freeze(): Promise<void> {
    process.kill(this.#pid, "SIGSTOP");
    // On a busy machine the signal takes effect only when one of the threads gets its turn.
    await pollUntil(`mongod on port ${this.port} to stand still`, async () => isStopped(this.#pid));
  }

  thaw(): void {
    process.kill(this.#pid, "SIGCONT");
  }

  #logTail(): string {
    return readFileSync(this.#logFile, "utf8").split("\n").slice(-20).join("\n");
  }
}

/** True when every thread of a process is stopped; where the system does not tell, taken for granted. */
function isStopped(pid: number): boolean {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return true;
  try {
    const stats = readdirSync(threads).map((id) => readFileSync(join(threads, id, "stat"), "utf8"));
    return stats.every((stat) => stat.slice(stat.lastIndexOf(")") + 2).startsWith("T"));
  } catch {
    return false; // one of them ended meanwhile
  }
}

async function initiate(
  members: readonly Member[],
  electionTimeoutMillis: number,
  part: ClusterPart | null,
): Promise<void> {
  const config = {
    _id: part?.name ?? SET_NAME,
    version: 1,
    ...(part?.role === "configsvr" ? { configsvr: true } : {}),
    members: members.map(({ port }, index) => ({ _id: index, host: `127.0.0.1:${port}` })),
    settings: {
      electionTimeoutMillis,
      heartbeatIntervalMillis: Math.min(500, Math.ceil(electionTimeoutMillis / 3)),
    },
  };
  const [first] = members;
  if (!first) throw new Error("A replica set needs a member");
  await command(first.port, { replSetInitiate: config });
  await findPrimary(members);
  await pollUntil("all members to follow", async () => {
    const replies = await Promise.all(members.map(hello));
    return replies.every((reply) => reply?.isWritablePrimary || reply?.secondary);
  });
}

async function findPrimary(members: readonly Member[]): Promise<Member> {
  let primary: Member | undefined;
  await pollUntil("a primary", async () => {
    const replies = await Promise.all(members.map(hello));
    primary = members.find((_, index) => replies[index]?.isWritablePrimary);
    return primary !== undefined;
  });
  return primary as Member;
}

async function hello({ port }: Member): Promise<Document | undefined> {
  try {
    return await command(port, { hello: 1 });
  } catch {
    return undefined;
  }
}

/** Fails when there is no reply in time: the driver can wait for ever on a connection that a killed mongod has closed. */
async function command(port: number, body: Document): Promise<Document> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}`, {
    directConnection: true,
    serverSelectionTimeoutMS: 500,
    maxPoolSize: 1,
  });
  const reply = client.db("admin").command(body);
  // It can wait as long for its end.
  reply.finally(() => client.close()).catch(() => {});
  return await withinTime(reply);
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("mongod did not answer in time")), REPLY_DEADLINE_MS);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}

/** All are held open together, so that they differ. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
