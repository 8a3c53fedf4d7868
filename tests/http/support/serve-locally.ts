// A server of a test's own, such as a remote that answers as no deployment does.
import { keepResource } from "../../support/resources.ts";

/** Answers every request at the address that it gives, until the test ends; a reply may take any time. */
export function serveLocally(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  keepResource(() => server.stop(true));
  return server.url.origin;
}

/** Asks another server the same, and gives its reply as it came. */
export async function passOn(request: Request, origin: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const body = method === "POST" ? { body: await request.bytes() } : {};
  const init = { method, headers, decompress: false, ...body };
  const reply = await fetch(`${origin}${pathname}${search}`, init);
  return new Response(await reply.bytes(), { status: reply.status, headers: reply.headers });
}
