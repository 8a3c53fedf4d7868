// One attempt to deliver an alert, to real receivers.
import { afterEach, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from "node:net";
import {
  type FindAddresses,
  WebhookSender,
} from "../../../src/adapters/node-http/webhook-sender.ts";
import { HOOKS_CERTIFICATE, HOOKS_KEY } from "./hooks-certificate.ts";

const MESSAGE = { id: "alert-1", body: '{"name":"ä"}', signature: "t=1,v1=00" };
const NEVER = new AbortController().signal;
const PRIVATE =
  "its address is a private one, and WEBHOOK_ALLOW_PRIVATE is not true, so it was not called";
const HERE: FindAddresses = (_, found) => found(null, [{ address: "127.0.0.1", family: 4 }]);

const servers: TcpServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Resolves to the port. */
async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A receiver that answers every request so; it notes the requests. */
async function receiver(status: number, headers: Readonly<Record<string, string>> = {}) {
  const requests: { readonly message: IncomingMessage; readonly body: string }[] = [];
  const port = await listen(
    createServer(async (message, reply) => {
      let body = "";
      for await (const chunk of message.setEncoding("utf8")) body += chunk;
      requests.push({ message, body });
      reply.writeHead(status, headers).end("thank you");
    }),
  );
  return { url: new URL(`http://127.0.0.1:${port}/hook?a=b`), requests };
}

test("D-10.12 an alert is posted as JSON, with its id and signature", async () => {
  const { url, requests } = await receiver(204);
  expect(await new WebhookSender({ url, allowsPrivate: true }).send(MESSAGE, NEVER)).toBeNull();
  expect(requests).toHaveLength(1);
  const [{ message, body } = { message: undefined, body: "" }] = requests;
  expect([message?.method, message?.url, body]).toEqual(["POST", "/hook?a=b", '{"name":"ä"}']);
  expect(message?.headers).toMatchObject({
    host: url.host,
    "content-type": "application/json",
    "content-length": "13",
    "repsync-id": "alert-1",
    "repsync-signature": "t=1,v1=00",
  });
});

test.each([200, 201, 299])("D-10.12 delivered is what is answered %d", async (status) => {
  const { url } = await receiver(status);
  expect(await new WebhookSender({ url, allowsPrivate: true }).send(MESSAGE, NEVER)).toBeNull();
});

test.each([301, 302, 307, 308, 400, 410, 500, 503])(
  "D-10.12 not what is answered %d",
  async (status) => {
    const target = await receiver(200);
    const { url, requests } = await receiver(status, { Location: target.url.href });
    const sender = new WebhookSender({ url, allowsPrivate: true });
    expect(await sender.send(MESSAGE, NEVER)).toBe(`it answered ${status}`);
    expect([requests.length, target.requests.length]).toEqual([1, 0]);
  },
);

test("D-10.12 a private address is not called, however it is written", async () => {
  const { url, requests } = await receiver(200);
  const hosts = [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0",
    "[::1]",
    "[::ffff:7f00:1]",
  ];
  for (const host of hosts) {
    const sender = new WebhookSender({
      url: new URL(`http://${host}:${url.port}/`),
      allowsPrivate: false,
    });
    expect([host, await sender.send(MESSAGE, NEVER)]).toEqual([host, PRIVATE]);
  }
  expect(requests).toEqual([]);
});

test("D-10.12 nor is one that a name resolves to", async () => {
  const { url, requests } = await receiver(200);
  for (const host of ["localhost", "hooks.example"]) {
    const named = new URL(`http://${host}:${url.port}/`);
    const options = host === "localhost" ? {} : { findAddresses: HERE };
    const sender = new WebhookSender({ url: named, allowsPrivate: false, ...options });
    expect([host, await sender.send(MESSAGE, NEVER)]).toEqual([host, PRIVATE]);
  }
  expect(requests).toEqual([]);
});

test("D-10.12 a name is looked up once, and what was found is what is called", async () => {
  const { url, requests } = await receiver(200);
  const asked: string[] = [];
  const findAddresses: FindAddresses = (host, found) => {
    asked.push(host);
    HERE(host, found);
  };
  const named = new URL(`http://hooks.example:${url.port}/`);
  const sender = new WebhookSender({ url: named, allowsPrivate: true, findAddresses });
  expect(await sender.send(MESSAGE, NEVER)).toBeNull();
  expect(asked).toEqual(["hooks.example"]);
  expect(requests[0]?.message.headers.host).toBe(named.host);
});

test("D-10.12 over TLS the receiver has to prove the name, whatever its address", async () => {
  const port = await listen(
    createTlsServer({ key: HOOKS_KEY, cert: HOOKS_CERTIFICATE }, (_, reply) => reply.end()),
  );
  const send = (host: string, ca?: string) => {
    const url = new URL(`https://${host}:${port}/`);
    const trusted = ca === undefined ? {} : { ca };
    const options = { url, allowsPrivate: true, findAddresses: HERE, ...trusted };
    return new WebhookSender(options).send(MESSAGE, NEVER);
  };
  expect(await send("hooks.example", HOOKS_CERTIFICATE)).toBeNull();
  expect(await send("other.example", HOOKS_CERTIFICATE)).toStartWith("it cannot be reached (");
  expect(await send("hooks.example")).toStartWith("it cannot be reached (");
});

test("D-10.12 a receiver that does not answer in time is not waited for", async () => {
  const silent = await listen(createTcpServer((socket) => socket.on("error", () => {}).resume()));
  const dripping = await listen(
    createTcpServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .write("HTTP/1.1 200 OK\r\nA:"),
    ),
  );
  for (const port of [silent, dripping]) {
    const url = new URL(`http://127.0.0.1:${port}/`);
    const sender = new WebhookSender({ url, allowsPrivate: true, timeoutMs: 200 });
    expect(await sender.send(MESSAGE, NEVER)).toBe("it did not answer within 0.2 s");
  }
});

test("D-10.12 nor a name that is not found in time", async () => {
  const url = new URL("http://hooks.example/");
  const findAddresses = () => {};
  const sender = new WebhookSender({ url, allowsPrivate: false, timeoutMs: 50, findAddresses });
  expect(await sender.send(MESSAGE, NEVER)).toBe("it did not answer within 0.05 s");
});

test("D-10.12 the reply's body is not waited for", async () => {
  const port = await listen(
    createServer((_, reply) => void reply.writeHead(200).write("more to come")),
  );
  const url = new URL(`http://127.0.0.1:${port}/`);
  expect(await new WebhookSender({ url, allowsPrivate: true }).send(MESSAGE, NEVER)).toBeNull();
});

test("D-10.12 an attempt ends at once when it is told to", async () => {
  const stop = new AbortController();
  const port = await listen(createTcpServer(() => stop.abort()));
  const url = new URL(`http://127.0.0.1:${port}/`);
  const attempt = new WebhookSender({ url, allowsPrivate: true }).send(MESSAGE, stop.signal);
  expect(await attempt).toBe("the attempt was ended");
});

test("D-10.12 a receiver that cannot be reached, or breaks off, is told without its address", async () => {
  const port = await listen(createTcpServer((socket) => socket.destroy()));
  const broken = new URL(`http://127.0.0.1:${port}/secret`);
  const free = new URL("http://127.0.0.1:1/secret");
  for (const url of [broken, free]) {
    const problem = await new WebhookSender({ url, allowsPrivate: true }).send(MESSAGE, NEVER);
    expect(problem).toMatch(/^it cannot be reached( \([A-Z_]+\))?$/i);
  }
  const nowhere: FindAddresses = (_, found) => found(new Error("no such name"), []);
  const named = { url: new URL("http://a.example/"), allowsPrivate: false, findAddresses: nowhere };
  expect(await new WebhookSender(named).send(MESSAGE, NEVER)).toBe("it cannot be reached");
});
