// Addresses outside of the public internet: a webhook must not reach this machine or its network. D-10.12.
import { BlockList, isIPv4 } from "node:net";

/** Address and prefix length, from the registries of special-purpose addresses (RFC 6890). */
const IPV4: readonly (readonly [address: string, prefix: number])[] = [
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
];

const IPV6: readonly (readonly [address: string, prefix: number])[] = [
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
];

/** One list per family, as a mixed list takes IPv4 addresses as mapped ones. */
const PRIVATE_IPV4 = listOf("ipv4", IPV4);
const PRIVATE_IPV6 = listOf("ipv6", IPV6);

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
