// What is wrong with settings that are each good by themselves.

import {
  isForeignUsername,
  isPassword,
  OWN_ISSUER,
} from "../domain/reputation/accounts/account.ts";
import {
  MAX_FOREIGN_USERNAME_CHARS,
  MAX_PASSWORD_CHARS,
  MIN_PASSWORD_CHARS,
} from "../domain/shared/limits.ts";

/** Of keys for HMAC-SHA-256. D-1.3, D-8.7. */
const MIN_SECRET_BYTES = 32;
const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "::1"];

/** The settings that are looked at here, as `Config` has them. */
interface Settings {
  readonly host: string;
  readonly port: number;
  readonly remoteUrl: string | null;
  readonly adminUsername: string | null;
  readonly adminPassword: string | null;
  readonly jwtSecret: string | null;
  readonly jwtJwksUrl: string | null;
  readonly jwtIssuer: string | null;
  readonly jwtAudience: string | null;
  readonly apiKeyPepper: string | null;
}

/** A sentence for each; none shows a secret. `machineAddresses` are those of this machine's network. */
export function findProblems(config: Settings, machineAddresses: readonly string[]): string[] {
  return [
    ...secretProblems(config),
    ...administratorProblems(config),
    ...ownAddressProblems(config, machineAddresses),
  ];
}

function secretProblems({
  jwtSecret,
  jwtJwksUrl,
  jwtIssuer,
  jwtAudience,
  apiKeyPepper,
}: Settings): string[] {
  const problems: string[] = [];
  if (jwtSecret !== null && new TextEncoder().encode(jwtSecret).length < MIN_SECRET_BYTES) {
    problems.push(`JWT_SECRET must be at least ${MIN_SECRET_BYTES} bytes long`);
  }
  if (apiKeyPepper !== null && new TextEncoder().encode(apiKeyPepper).length < MIN_SECRET_BYTES) {
    problems.push(`API_KEY_PEPPER must be at least ${MIN_SECRET_BYTES} bytes long`);
  }
  if (jwtJwksUrl !== null && (jwtIssuer === null || jwtAudience === null)) {
    problems.push("JWT_JWKS_URL also needs JWT_ISSUER and JWT_AUDIENCE");
  }
  if (jwtIssuer === OWN_ISSUER) {
    problems.push(`JWT_ISSUER must not be ${OWN_ISSUER}: that is this service itself`);
  }
  return problems;
}

function administratorProblems({ adminUsername, adminPassword }: Settings): string[] {
  const problems: string[] = [];
  if (adminUsername !== null && !isForeignUsername(adminUsername)) {
    problems.push(`ADMIN_USERNAME must have 1 to ${MAX_FOREIGN_USERNAME_CHARS} characters`);
  }
  if (adminPassword !== null && !isPassword(adminPassword)) {
    const length = `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS}`;
    problems.push(`ADMIN_PASSWORD must have ${length} characters`);
  }
  if ((adminUsername === null) !== (adminPassword === null)) {
    problems.push("ADMIN_USERNAME and ADMIN_PASSWORD must be set together");
  }
  return problems;
}

/** A deployment that would push to itself. D-10.4. */
function ownAddressProblems(
  { host, port, remoteUrl }: Settings,
  machineAddresses: readonly string[],
): string[] {
  if (remoteUrl === null || !URL.canParse(remoteUrl)) return [];
  const remote = new URL(remoteUrl);
  const defaultPort = remote.protocol === "https:" ? 443 : 80;
  if (port === 0 || Number(remote.port || defaultPort) !== port) return [];
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const isThisMachine = isEverywhere || LOOPBACK.includes(host);
  const own = [
    host,
    // Calls to the last two reach this machine.
    ...(isThisMachine ? [...LOOPBACK, "0.0.0.0", "::"] : []),
    ...(isEverywhere ? machineAddresses : []),
  ];
  const name = plainName(remote.hostname);
  return own.includes(name) || (isEverywhere && /^127\.[\d.]+$/.test(name))
    ? ["SYNC_REMOTE_URL is an address of this deployment itself: name the other one"]
    : [];
}

/** A host without brackets and a dot at its end; an IPv4 address that is written as one of IPv6 as it is. */
function plainName(hostname: string): string {
  const name = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  const parts = [high, low].map((part) => Number.parseInt(part, 16));
  return parts.flatMap((part) => [part >> 8, part & 255]).join(".");
}
