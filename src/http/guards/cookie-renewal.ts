// The session cookie goes on while it is used. D-9.3.

import { SESSION_TTL_SECONDS } from "../../domain/shared/limits.ts";
import type { Logger } from "../../ports/runtime/runtime.ts";
import type { AccountDeps } from "../../usecases/reputation/accounts/deps.ts";
import type { Identity } from "../../usecases/reputation/accounts/identity.ts";
import { renewSession } from "../../usecases/reputation/accounts/renew-session.ts";
import type { Exchange } from "../exchange.ts";
import { sessionCookie } from "./browser.ts";

/** Gives a good reply to somebody with the cookie a fresh one, when it is time. Never rejects. */
export async function renewCookie(
  { accounts, logger }: { readonly accounts: AccountDeps; readonly logger: Logger },
  exchange: Exchange,
  identity: Identity,
  reply: Response,
): Promise<void> {
  // A reply that sets or takes the cookie has the last word.
  if (!reply.ok || reply.headers.has("set-cookie")) return;
  try {
    const token = await renewSession(accounts, identity);
    if (token === null) return;
    reply.headers.set("Set-Cookie", sessionCookie(exchange, token, SESSION_TTL_SECONDS));
  } catch {
    // The old one is good for a while, and the next request tries again.
    logger.warn("A session cookie was not renewed", { request_id: exchange.requestId });
  }
}
