// Whoever has an IPv6 network has its 2^64 addresses, so limits by address go by the network. D-8.5.

const GROUPS = 8;
/** Those of a network; the others name a host in it. */
const NETWORK_GROUPS = 4;
const IPV4_IN_IPV6 = /^::(?:ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/i;
const GROUP = /^[0-9a-f]{1,4}$/i;

/** An IPv4 address as it is, the /64 network of an IPv6 address, such as `2001:db8:0:1::/64`; any other text as it is. */
export function addressGroup(address: string): string {
  const ipv4 = IPV4_IN_IPV6.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [withoutZone = ""] = address.split("%", 1);
  const groups = groupsOf(withoutZone);
  if (groups === null) return address;
  return `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

/** The groups of an IPv6 address without leading zeros; null for other text. */
function groupsOf(address: string): readonly string[] | null {
  const [before = "", after, ...rest] = address.split("::");
  if (rest.length > 0) return null;
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const missing = GROUPS - head.length - tail.length;
  const isWhole = after === undefined ? missing === 0 : missing > 0;
  // The last group may be an IPv4 address, which is written as one and stands for two.
  const groups = [...head, ...Array<string>(Math.max(0, missing)).fill("0"), ...tail];
  if (!isWhole || !groups.slice(0, NETWORK_GROUPS).every((group) => GROUP.test(group))) return null;
  return groups.map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
}
