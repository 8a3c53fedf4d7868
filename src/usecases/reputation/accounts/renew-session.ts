// Sessions of browsers go on while they are used. D-9.3.
import {
  SESSION_RENEWAL_MS,
  SESSION_TTL_SECONDS,
  TOKEN_RENEWAL_AGE_MS,
} from "../../../domain/shared/limits.ts";
import type { AccountDeps } from "./deps.ts";
import type { Identity } from "./identity.ts";

/**
 * A fresh token of the same session, good for an hour; null while the token is not 10 minutes old, from 12 hours after
 * signing in on, and for a session that has ended meanwhile or began elsewhere.
 */
export async function renewSession(
  { sessions, tokens, clock }: AccountDeps,
  { role, session }: Identity,
): Promise<string | null> {
  if (session.kind === "foreign") return null;
  const { issuedAtMs, signedInAtMs } = session.claims;
  const nowMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const isDue = nowMs - issuedAtMs > TOKEN_RENEWAL_AGE_MS;
  if (!isDue || nowMs - signedInAtMs >= SESSION_RENEWAL_MS) return null;
  const expiresAtMs = nowMs + SESSION_TTL_SECONDS * 1000;
  const name = { username: session.claims.subject, id: session.id };
  if (!(await sessions.extend(name, expiresAtMs))) return null;
  return await tokens.issue({ ...session.claims, role, issuedAtMs: nowMs, expiresAtMs });
}
