// A remote that stops in the middle of its work, for tests of runs that take long.
import { passOn, serveLocally } from "../../support/serve-locally.ts";

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
  const hold = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const held = serveLocally(async (request) => {
    if (new URL(request.url).pathname.includes(part) && ++seen > passed) {
      // As one whose work has begun.
      await request.clone().bytes();
      reached.resolve();
      await hold.promise;
    }
    return await passOn(request, url);
  });
  return { url: held, reached: reached.promise, release: hold.resolve };
}
