// A sharded cluster, where MONGOS_BINARY names a mongos: a config server, two shards, and the mongos before them.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { type ReplicaSet, RUN_UNTIL_EOF, startReplicaSet } from "./mongo-replica-set.ts";

const CONFIG = { name: "config", role: "configsvr" } as const;
const SHARDS = [
  { name: "shard0", role: "shardsvr" },
  { name: "shard1", role: "shardsvr" },
] as const;
const SELECTION_MS = 60_000;

/** A running cluster, all of it on 127.0.0.1. */
export interface Cluster {
  uri(dbName: string): string;
  stop(): Promise<void>;
}

/** What a mongos is started with. */
export function mongosArguments(options: {
  readonly port: number;
  readonly configHosts: string;
  readonly logFile: string;
}): readonly string[] {
  const { port, configHosts, logFile } = options;
  return [
    ...["--configdb", `${CONFIG.name}/${configHosts}`],
    ...["--bind_ip", "127.0.0.1", "--port", String(port)],
    ...["--logpath", logFile, "--logappend", "--nounixsocket"],
    ...["--setParameter", "enableTestCommands=1"],
  ];
}

/** Hosts of a replica set, as `addShard` and `--configdb` take them. */
export function hostsOf({ members }: Pick<ReplicaSet, "members">): string {
  return members.map(({ port }) => `127.0.0.1:${port}`).join();
}

/** Resolves when both shards can be written to. */
export async function startCluster(mongosBinary: string): Promise<Cluster> {
  const config = await startReplicaSet({ members: 1, part: CONFIG });
  const shards = await Promise.all(SHARDS.map((part) => startReplicaSet({ members: 1, part })));
  const folder = mkdtempSync(join(tmpdir(), "repsync-mongos-"));
  const port = await freePort();
  const logFile = join(folder, "mongos.log");
  const args = mongosArguments({ port, configHosts: hostsOf(config), logFile });
  const mongos = spawn("sh", ["-c", RUN_UNTIL_EOF, "sh", mongosBinary, ...args], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const uri = (dbName: string) => `mongodb://127.0.0.1:${port}/${dbName}`;
  const client = new MongoClient(uri("admin"), { serverSelectionTimeoutMS: SELECTION_MS });
  for (const [index, shard] of shards.entries()) {
    const addShard = `${SHARDS[index]?.name}/${hostsOf(shard)}`;
    await client.db("admin").command({ addShard });
  }
  await client.close();
  return {
    uri,
    async stop() {
      mongos.stdin.end();
      await Promise.all([config, ...shards].map((set) => set.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
