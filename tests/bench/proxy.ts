/** Passes requests on to a server, and knows how long it had any under way. */
export interface Proxy {
  readonly url: string;
  /** Milliseconds so far in which at least one request was under way. */
  busyMs(): number;
  stop(): Promise<void>;
}

/** Starts a proxy in this process. */
export function startProxy(targetUrl: string): Proxy {
  let underWay = 0;
  let busyFromMs = 0;
  let busyMs = 0;
  const begin = () => {
    if (underWay++ === 0) busyFromMs = performance.now();
  };
  const end = () => {
    if (--underWay === 0) busyMs += performance.now() - busyFromMs;
  };

  async function pass(request: Request): Promise<Response> {
    begin();
    try {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("host");
      const body = request.method === "GET" ? null : await request.arrayBuffer();
      const init = { method: request.method, headers, body, decompress: false };
      const reply = await fetch(`${targetUrl}${pathname}${search}`, init);
      const { status } = reply;
      return new Response(await reply.arrayBuffer(), { status, headers: reply.headers });
    } finally {
      end();
    }
  }

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 60, fetch: pass });
  return {
    url: server.url.origin,
    busyMs: () => busyMs,
    stop: () => server.stop(true),
  };
}
