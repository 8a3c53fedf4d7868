// Sends alerts by `node:http`: its `lookup` gives the address to connect to, so the checked address is the used one, and it
// follows no redirect. D-10.12.

import { type LookupAddress, lookup } from "node:dns";
import { request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { BlockList, isIP, isIPv4, type LookupFunction } from "node:net";
import { codeOf } from "../../domain/shared/errors.ts";
import type { AlertMessage, AlertSender } from "../../ports/http/http.ts";

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

// Addresses outside of the public internet: a webhook must not reach this machine or its network. D-10.12.

/**
 * Address and prefix length, from the registries of special-purpose addresses (RFC 6890). One list per family, as a mixed list
 * takes IPv4 addresses as mapped ones.
 */
const PRIVATE_IPV4 = listOf("ipv4", [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  // Shared by carriers for NAT.
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Multicast, reserved, and broadcast.
  ["224.0.0.0", 3],
]);

const PRIVATE_IPV6 = listOf("ipv6", [
  // Unspecified, loopback, and IPv4 addresses in the old form.
  ["::", 96],
  // IPv4 addresses: mapped, translated, by NAT64.
  ["::ffff:0:0", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  // Teredo and others that are no addresses of hosts.
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4.
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
]);

/** An IPv6 address may have a zone. */
export function isPrivateAddress(address: string): boolean {
  if (isIPv4(address)) return PRIVATE_IPV4.check(address, "ipv4");
  const [plain = "", zone] = address.split("%");
  return zone !== undefined || PRIVATE_IPV6.check(plain, "ipv6");
}

function listOf(
  family: "ipv4" | "ipv6",
  networks: readonly (readonly [address: string, prefix: number])[],
): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, family);
  return list;
}
