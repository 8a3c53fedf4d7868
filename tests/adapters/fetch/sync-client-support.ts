// Peers for the tests of the sync client: real servers on free ports, stopped after the test that started them.
import { afterEach } from "bun:test";
import { createHash } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { createSyncClient, RemotePeerError } from "../../../src/client.ts";

/** A request as a peer saw it. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query as sent, still encoded. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Starts an HTTP server that answers everything with `answer`. */
export function startPeer(answer: (request: SeenRequest) => Response | Promise<Response>) {
  const seen: SeenRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method, headers } = request;
      const target = request.url.slice(new URL(request.url).origin.length);
      seen.push({ method, target, headers, body: await request.bytes() });
      return await answer(seen[seen.length - 1] as SeenRequest);
    },
  });
  stops.push(() => void server.stop(true));
  const stop = () => server.stop(true);
  return { baseUrl: `http://127.0.0.1:${server.port}`, seen, stop };
}

export const KEY = "k-1 secret";

export function clientOf(peer: { readonly baseUrl: string }, options: object = {}) {
  return createSyncClient({ baseUrl: peer.baseUrl, key: KEY, ...options });
}

/** Starts a TCP server that calls `answer` once the head of a request has come, for replies no HTTP server gives. */
export async function startRawPeer(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  return { baseUrl: `http://127.0.0.1:${address.port}` };
}

/** The head of a raw reply, with the blank line after it. */
export function rawHead(status: string, headers: Readonly<Record<string, string | number>>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

/** Lowercase hexadecimal SHA-256, not by the code under test. */
export function checksumOf(json: string): string {
  return createHash("sha256").update(json).digest("hex");
}

/** A page as S-4.1.4 has it: short, as it is. */
export function plainReply(json: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(json, {
    headers: {
      "Content-Type": "application/json",
      "X-Content-SHA256": checksumOf(json),
      ...headers,
    },
  });
}

/** A page as S-4.1.5 has it: gzip. */
export function gzipReply(json: string, headers: Readonly<Record<string, string>> = {}): Response {
  const bytes = new TextEncoder().encode(json);
  return new Response(gzipSync(bytes, { level: 6 }), {
    headers: {
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
      "X-Content-SHA256": checksumOf(json),
      "X-Original-Size": String(bytes.length),
      ...headers,
    },
  });
}

/** The error a request failed with; any other outcome fails the test. */
export async function failureOf(request: Promise<unknown>): Promise<RemotePeerError> {
  const outcome = await request.then(
    () => new Error("The request succeeded"),
    (error: unknown) => error,
  );
  if (outcome instanceof RemotePeerError) return outcome;
  throw outcome;
}
