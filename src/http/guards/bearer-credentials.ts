/** The scheme and the blanks after it: nothing that could be matched in two ways, as a header can be long. */
const BEARER = /^Bearer(?: +|$)/i;

/** What an `Authorization` header says after `Bearer`, perhaps nothing; null for another scheme. */
export function bearerCredentials(authorization: string): string | null {
  const scheme = BEARER.exec(authorization);
  return scheme === null ? null : authorization.slice(scheme[0].length);
}
