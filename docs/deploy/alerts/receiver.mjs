// Takes alerts on 127.0.0.1, and prints their types and ids. Needs WEBHOOK_SECRET and PORT.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.WEBHOOK_SECRET;

function isGenuine(header, body) {
  const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (seconds === undefined || Math.abs(Date.now() / 1000 - Number(seconds)) > 300) return false;
  const expected = createHmac("sha256", secret).update(`${seconds}.`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(hex, "hex"));
}

createServer(async (request, reply) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers["repsync-signature"], body)) return reply.writeHead(401).end();
  const { id, type } = JSON.parse(body);
  console.log(`${type} ${id}`);
  reply.writeHead(204).end();
}).listen(Number(process.env.PORT), "127.0.0.1");
