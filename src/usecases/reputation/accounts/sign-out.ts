import { type IdentityDeps, NOBODY, type TokenSession } from "./identity.ts";

/** The store's clock may be behind the one that the token was checked by. */
const CLOCK_MARGIN_MS = 60_000;
/** The last moment that a `Date` can name; a token may claim to be good for longer. */
const LAST_MS = 8_640_000_000_000_000;

/** Ends a session at once, on every instance: its token is refused from then on. D-5.4, D-6.3. */
export async function signOut(
  { sessions }: Pick<IdentityDeps, "sessions">,
  session: TokenSession,
): Promise<void> {
  if (session.kind === "own") return await sessions.end(session.id);
  const { endId: id, expiresAtMs } = session;
  const keptUntilMs = Math.min(expiresAtMs + CLOCK_MARGIN_MS, LAST_MS);
  await sessions.begin({ id, username: NOBODY, expiresAtMs: keptUntilMs });
}
