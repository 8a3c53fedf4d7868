// A remote that stops in the middle of its work, for tests of runs that take long.
import { keepResource } from "../../support/resources.ts";

/** A server between a deployment and its remote. */
export interface HeldRemote {
  readonly url: string;
  /** Resolves when a request is being held. */
  readonly reached: Promise<void>;
  /** Lets everything through from now on. */
  release(): void;
}

/** Passes requests on to `url`, those whose path holds `part` only after `release`, but for the first `passed`. */
export function startHeldRemote(url: string, part: string, passed = 0): HeldRemote {
  let seen = 0;
  const hold = newSignal();
  const reached = newSignal();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? { body: await request.bytes() } : {};
      if (pathname.includes(part) && ++seen > passed) {
        reached.give();
        await hold.given;
      }
      const { method, headers } = request;
      const reply = await fetch(`${url}${pathname}${search}`, {
        ...{ method, headers, decompress: false },
        ...body,
      });
      return new Response(await reply.bytes(), { status: reply.status, headers: reply.headers });
    },
  });
  keepResource(() => server.stop(true));
  return { url: server.url.origin, reached: reached.given, release: hold.give };
}

function newSignal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
