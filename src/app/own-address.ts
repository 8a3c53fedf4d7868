// Whether a deployment would run against itself. D-10.4.

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "::1"];

interface Addresses {
  readonly host: string;
  readonly port: number;
  readonly remoteUrl: string | null;
}

/** True where the remote is this deployment. `machineAddresses` are those of this machine's network. */
export function isOwnAddress(
  { host, port, remoteUrl }: Addresses,
  machineAddresses: readonly string[],
): boolean {
  const remote = URL.parse(remoteUrl ?? "");
  if (remote === null) return false;
  const defaultPort = remote.protocol === "https:" ? 443 : 80;
  if (port === 0 || Number(remote.port || defaultPort) !== port) return false;
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const isThisMachine = isEverywhere || LOOPBACK.includes(host);
  const own = [
    host,
    // Calls to the last two reach this machine.
    ...(isThisMachine ? [...LOOPBACK, "0.0.0.0", "::"] : []),
    ...(isEverywhere ? machineAddresses : []),
  ];
  const name = plainName(remote.hostname);
  return own.includes(name) || (isEverywhere && /^127\.[\d.]+$/.test(name));
}

/** A host without brackets and a dot at its end; an IPv4 address that is written as one of IPv6 as it is. */
function plainName(hostname: string): string {
  const name = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  const parts = [high, low].map((part) => Number.parseInt(part, 16));
  return parts.flatMap((part) => [part >> 8, part & 255]).join(".");
}
