// A fixed address for a deployment that is started again elsewhere.
import { passOn, serveLocally } from "../../support/serve-locally.ts";

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
  const url = serveLocally((request) => {
    const asked = `${request.method} ${new URL(request.url).pathname.replace("/api/v1/sync", "")}`;
    forwarder.seen.push(asked);
    for (const name of forwarder.drops) request.headers.delete(name);
    const { target } = forwarder;
    return passOn(request, typeof target === "string" ? target : target(asked));
  });
  const forwarder: Forwarder = { url, seen: [], target: "", drops: [] };
  return forwarder;
}
