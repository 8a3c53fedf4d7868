// A network that loses, delays, repeats and damages what goes over it, and a server that is busy at times.
import { type JsonValue, parseJson } from "../../src/domain/shared/json.ts";
import type { DigestQuery } from "../../src/domain/sync/digest/digest-page.ts";
import {
  type DigestReply,
  type PulledPage,
  type PullRequest,
  type PushedBatch,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
} from "../../src/ports/tables/remote-peer.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { SimTime } from "../support/time/sim-time.ts";
import type { SimProcess } from "./sim-process.ts";
import type { SimPush, SimServer } from "./sim-servers.ts";

/** How bad the network is. */
export interface Weather {
  /** Part of the exchanges that something happens to; set it to 0 for fair weather. */
  faults: number;
  /** Longest way of a message, in milliseconds. */
  readonly delayMs: number;
  /** How late the server may still carry out a request whose caller has given up. */
  readonly lateMs: number;
  /**
   * False for records that must not arrive any more: a newer version exists, which no run sends again while it is as it
   * went, and the server does not guard its rows. Only a comparison finds that. D-7.1.
   */
  mayArrive(records: readonly JsonValue[]): boolean;
  /** Records that the server takes in one push. */
  readonly maxPushRows: number;
}

const TIMEOUT_MS = 15_000;

/** The server as a process reaches it over the network. */
export function connectThrough(
  network: { readonly time: SimTime; readonly random: SeededRandom; readonly weather: Weather },
  ends: { readonly process: SimProcess; readonly server: SimServer },
): RemotePeer {
  const { time, random, weather } = network;
  const { process, server } = ends;

  async function exchange<Reply>(
    serve: () => Promise<Reply>,
    { signal, serveLate = serve }: { signal?: AbortSignal | undefined; serveLate?: () => unknown },
  ): Promise<Reply> {
    await process.sleep(random.next() * weather.delayMs, signal);
    const reply = await meet(serve, serveLate);
    await process.sleep(random.next() * weather.delayMs, signal);
    if (signal?.aborted) throw new RemotePeerError("aborted", "The request was aborted");
    return parseJson(JSON.stringify(reply)) as Reply;
  }

  async function meet<Reply>(
    serve: () => Promise<Reply>,
    serveLate: () => unknown,
  ): Promise<Reply> {
    if (!random.chance(weather.faults)) return serve();
    switch (random.int(0, 9)) {
      case 0:
        throw new RemotePeerError("unreachable", "The connection was refused");
      case 1:
        return timeOut();
      case 2:
        // Carried out, but nobody learns of it.
        await serve();
        return timeOut();
      case 3:
        // Carried out after its caller has given up.
        time.after(TIMEOUT_MS + random.next() * weather.lateMs, () => void carryOut(serveLate));
        return timeOut();
      case 4:
        await serve();
        throw new RemotePeerError("unreachable", "The reply broke off");
      case 5:
        await serve();
        throw new RemotePeerError("checksum_mismatch", "The reply does not match its checksum");
      case 6:
        // Carried out twice.
        time.after(random.next() * weather.lateMs, () => void carryOut(serveLate));
        return serve();
      case 7:
        throw new RemotePeerError("status", "500", { reason: "passing" });
      case 8:
        throw new RemotePeerError("status", "429", {
          reason: "passing",
          retryAfterSeconds: random.int(0, 3),
        });
      default:
        throw new RemotePeerError("status", "503", { reason: "passing" });
    }
  }

  /** Nobody learns whether it succeeds. */
  async function carryOut(serve: () => unknown): Promise<void> {
    try {
      await serve();
    } catch {}
  }

  async function timeOut(): Promise<never> {
    await process.sleep(TIMEOUT_MS);
    throw new RemotePeerError("timeout", "No reply within 15000 ms");
  }

  return {
    async pullPage(tableName: string, request: PullRequest = {}): Promise<PulledPage> {
      const { since = null, offset = 0, limit = 1000, columns = null, signal } = request;
      const pull = () => server.pull(tableName, { since, offset, limit, columns });
      const page = await exchange(pull, { signal });
      return { page, bytesCompressed: 100, bytesUncompressed: 1000 };
    },
    async pushBatch(tableName: string, request: PushRequest): Promise<PushedBatch> {
      const { signal, deleted = [], ...sent } = request;
      const tombstones = deleted.map(({ key, deletedAt }) => ({ key, deleted_at: deletedAt }));
      const text = JSON.stringify({ ...sent, deleted: tombstones });
      const read = () => parseJson(text) as unknown as SimPush;
      if (request.records.length > weather.maxPushRows) {
        await process.sleep(random.next() * weather.delayMs);
        throw new RemotePeerError("status", "413", { reason: "too_large" });
      }
      const push = () => server.push(tableName, read());
      const result = await exchange(push, {
        signal,
        serveLate: () => weather.mayArrive(read().records) && push(),
      });
      return { result, bytesCompressed: 100, bytesUncompressed: text.length };
    },
    async readDigest(tableName: string, query: DigestQuery, { signal } = {}): Promise<DigestReply> {
      const page = await exchange(() => server.digest(tableName, query), { signal });
      return { page, bytesCompressed: 100, bytesUncompressed: JSON.stringify(page).length };
    },
    readSchema: (tableName, { lateAfter = null, signal } = {}) =>
      exchange(() => server.schema(tableName, lateAfter), { signal }),
    readDeleted: async (tableName, { signal, ...query } = {}) => {
      const page = await exchange(() => server.deleted(tableName, query), { signal });
      return { ...page, bytesCompressed: 100, bytesUncompressed: JSON.stringify(page).length };
    },
    readStatus: async (options) => {
      const status = await exchange(() => server.status(), { signal: options?.signal });
      return { ...status, extensions: server.extensions };
    },
  };
}
