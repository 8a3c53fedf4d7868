// Sends alerts by `node:http`: its `lookup` gives the address to connect to, so the checked address is the used one, and it
// follows no redirect. D-10.12.

import { type LookupAddress, lookup } from "node:dns";
import { request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { codeOf } from "../../domain/shared/errors.ts";
import type { AlertMessage, AlertSender } from "../../ports/http/http.ts";
import { isPrivateAddress } from "./private-addresses.ts";

/** Covers the lookup of the name as well. */
const TIMEOUT_MS = 10_000;

export type FindAddresses = (
  host: string,
  found: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

interface WebhookOptions {
  /** `http:` or `https:`. */
  readonly url: URL;
  readonly allowsPrivate: boolean;
  readonly timeoutMs?: number;
  /** By default the system's DNS. */
  readonly findAddresses?: FindAddresses;
  /** Certificates to trust, in PEM; by default those of the system. */
  readonly ca?: string;
}

/** The message says why a receiver is not called. */
class Refused extends Error {}

const PRIVATE_TEXT =
  "its address is a private one, and WEBHOOK_ALLOW_PRIVATE is not true, so it was not called";

export class WebhookSender implements AlertSender {
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  async send(message: AlertMessage, signal: AbortSignal): Promise<string | null> {
    const { url, timeoutMs = TIMEOUT_MS } = this.#options;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
      // A name is checked at its lookup; an address is never looked up.
      if (isIP(host) !== 0) this.#requireAllowed([host]);
      const status = await this.#post(message, AbortSignal.any([late, signal]));
      return status >= 200 && status <= 299 ? null : `it answered ${status}`;
    } catch (error) {
      if (signal.aborted) return "the attempt was ended";
      if (late.aborted) return `it did not answer within ${timeoutMs / 1000} s`;
      if (error instanceof Refused) return error.message;
      const code = codeOf(error);
      return code === null ? "it cannot be reached" : `it cannot be reached (${code})`;
    }
  }

  /** The status of the reply. */
  #post({ id, body, signature }: AlertMessage, signal: AbortSignal): Promise<number> {
    const { url, ca } = this.#options;
    const bytes = new TextEncoder().encode(body);
    const options: RequestOptions = {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "Content-Length": bytes.length,
        "User-Agent": "repsync",
        "Repsync-Id": id,
        "Repsync-Signature": signature,
      },
      // A connection of its own, for which the address is looked up and checked.
      agent: false,
      lookup: this.#lookup,
      signal,
      ...(ca === undefined ? {} : { ca }),
    };
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const request = send(url, options, (response) => {
        resolve(response.statusCode ?? 0);
        response.on("error", () => {});
        request.destroy();
      });
      request.on("error", reject);
      request.end(bytes);
    });
  }

  /** Gives `node:net` the addresses that may be called, IPv4 first. */
  readonly #lookup: LookupFunction = (host, { all }, callback) => {
    const { findAddresses = findByDns } = this.#options;
    findAddresses(host, (error, found) => {
      try {
        if (error !== null) throw error;
        const allowed = this.#requireAllowed(found.map(({ address }) => address));
        const addresses = found
          .filter(({ address }) => allowed.includes(address))
          .sort((a, b) => a.family - b.family);
        const [first] = addresses;
        if (first === undefined) throw new Refused("its name has no address");
        if (all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      } catch (problem) {
        callback(problem as Error, []);
      }
    });
  };

  /** The addresses that may be called. Throws `Refused` when all are private. */
  #requireAllowed(addresses: readonly string[]): readonly string[] {
    if (this.#options.allowsPrivate) return addresses;
    const allowed = addresses.filter((address) => !isPrivateAddress(address));
    if (allowed.length === 0 && addresses.length > 0) throw new Refused(PRIVATE_TEXT);
    return allowed;
  }
}

const findByDns: FindAddresses = (host, found) => {
  lookup(host, { all: true }, (error, addresses) => found(error, addresses));
};
