// Serves lookups of a floor: a bare route of the same framework that returns the same bytes.
import { Elysia } from "elysia";

const body = process.env.FLOOR_TARGET ?? "";
const headers = { "Content-Type": "application/json" };

/** The bytes that every lookup is answered with. */
export function reply(): Response {
  return new Response(body, { headers });
}

/** Serves what `answer` makes of a username, and prints the address. */
export function serveLookupFloor(answer: (username: string) => Response | Promise<Response>): void {
  const app = new Elysia().get(
    "/v1/public/profiles/:username/reputation",
    ({ params: { username } }) => answer(username),
  );
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    reusePort: false,
    development: false,
    fetch: (request) => app.handle(request),
  });
  console.log(`floor is listening on ${server.url.origin}`);
}
