// A receiver of alerts, as an operator would write one.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { keepResource } from "../../support/resources.ts";
import type { JsonFields } from "./sync-app.ts";

const SECRET = "a secret of the receiver";

/** An alert as it arrived. */
export interface ReceivedAlert {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly json: JsonFields;
  /** Whether the signature is right, and of the last minute. */
  readonly isGenuine: boolean;
  /** Of the reply. */
  readonly status: number;
}

export interface AlertReceiver {
  readonly url: string;
  /** Settings of a service that sends its alerts here. */
  readonly env: Readonly<Record<string, string>>;
  readonly received: readonly ReceivedAlert[];
  /** Status of the replies; 200 at first. */
  answer: number;
  /** Headers of the replies. */
  headers: Readonly<Record<string, string>>;
  /** Resolves with the alerts that fit once there are so many. */
  waitFor(
    count: number,
    fits?: (alert: ReceivedAlert) => boolean,
  ): Promise<readonly ReceivedAlert[]>;
}

/** Starts it; it is closed after the test. */
export async function startAlertReceiver(): Promise<AlertReceiver> {
  const received: ReceivedAlert[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, reply) => {
    let body = "";
    try {
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
    } catch {
      // The sender was killed.
      return;
    }
    const isGenuine = await isSigned(String(request.headers["repsync-signature"]), body);
    const status = receiver.answer;
    reply.writeHead(status, receiver.headers).end();
    received.push({ headers: request.headers, body, json: JSON.parse(body), isGenuine, status });
    for (const look of waiting) look();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  keepResource(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const receiver: AlertReceiver = {
    url,
    env: { WEBHOOK_URL: url, WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_PRIVATE: "true" },
    received,
    answer: 200,
    headers: {},
    waitFor: (count, fits = () => true) =>
      new Promise((resolve) => {
        const look = () => {
          const found = received.filter(fits);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
  return receiver;
}

/** By Web Crypto, from what docs/operating.md says. */
async function isSigned(header: string, body: string): Promise<boolean> {
  const [, seconds = "", hex = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = new TextEncoder();
  const secret = bytes.encode(SECRET);
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["verify"]);
  const signature = Uint8Array.fromHex(hex);
  const isRight = await crypto.subtle.verify(
    "HMAC",
    key,
    signature,
    bytes.encode(`${seconds}.${body}`),
  );
  return isRight && Math.abs(Date.now() / 1000 - Number(seconds)) < 60;
}
