// The floor of lookups: a bare route of the same framework that returns the same bytes and decides nothing.
import { Elysia } from "elysia";

const body = process.env.FLOOR_TARGET ?? "";
const headers = { "Content-Type": "application/json" };
const app = new Elysia().get(
  "/v1/public/profiles/:username/reputation",
  () => new Response(body, { headers }),
);
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  development: false,
  fetch: (request) => app.handle(request),
});
console.log(`floor is listening on ${server.url.origin}`);
