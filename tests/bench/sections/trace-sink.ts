/** A collector that takes every trace and keeps none. */
export function startSink(): { readonly url: string; stop(): void } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.arrayBuffer();
      return Response.json({});
    },
  });
  return { url: server.url.origin, stop: () => void server.stop(true) };
}
