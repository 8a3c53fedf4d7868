// A fixed address for a deployment that is started again elsewhere.
import { keepResource } from "../../support/resources.ts";

export interface Forwarder {
  readonly url: string;
  /** Requests so far, such as `GET /status`. */
  readonly seen: string[];
  /** Where requests go, or each of them. */
  target: string | ((request: string) => string);
  /** Names of request headers that it does not pass on. */
  drops: readonly string[];
}

export function startForwarder(): Forwarder {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const asked = `${request.method} ${pathname.replace("/api/v1/sync", "")}`;
      forwarder.seen.push(asked);
      const target = forwarder.target;
      const to = typeof target === "string" ? target : target(asked);
      const body = request.method === "POST" ? { body: await request.bytes() } : {};
      const { method, headers } = request;
      for (const name of forwarder.drops) headers.delete(name);
      const init = { method, headers, decompress: false, ...body };
      const reply = await fetch(`${to}${pathname}${search}`, init);
      return new Response(await reply.bytes(), { status: reply.status, headers: reply.headers });
    },
  });
  keepResource(() => server.stop(true));
  const forwarder: Forwarder = { url: server.url.origin, seen: [], target: "", drops: [] };
  return forwarder;
}
