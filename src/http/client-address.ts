import type { ConnectionInfo } from "../ports/http-server.ts";

/**
 * The address of whoever asks. Proxies append to `X-Forwarded-For` the address they were asked from; as many of its last
 * entries are believed as there are proxies, and what stands before them anybody may have written. D-1.3.
 */
export function clientAddress(
  headers: Headers,
  {
    connection,
    trustedHops,
  }: { readonly connection: ConnectionInfo; readonly trustedHops: number },
): string {
  const socketAddress = connection.remoteAddress ?? "unknown";
  if (trustedHops === 0) return socketAddress;
  const forwarded = (headers.get("x-forwarded-for") ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const path = [...forwarded, socketAddress];
  return path[Math.max(0, path.length - 1 - trustedHops)] ?? socketAddress;
}
