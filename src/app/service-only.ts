// Composes what a service has and a command has not: the answers to lookups, and the sessions of people.
import { JoseTokenIssuer, JwksIdentityProvider } from "../adapters/jose/jose-tokens.ts";
import { LruValueCache } from "../adapters/lru-cache/lru-value-cache.ts";
import { systemDefer } from "../adapters/system/system.ts";
import { REMEMBERED_LOOKUP_MS } from "../domain/shared/limits.ts";
import type { Clock, ValueCache } from "../ports/runtime/runtime.ts";
import { Secrets } from "../repositories/kept-values.ts";
import {
  LookupProcessor,
  type LookupProcessorDeps,
} from "../repositories/lookups/lookup-processor.ts";
import type { SessionDeps } from "../usecases/reputation/accounts/deps.ts";
import { keptSecret } from "../usecases/reputation/accounts/secrets.ts";
import { Lookups } from "../usecases/reputation/lookups/look-up.ts";
import type { Config } from "./config.ts";
import type { Reputation } from "./reputation.ts";
import type { Services } from "./services.ts";

export type ProcessorOptions = Pick<LookupProcessorDeps, "makeCache" | "clock">;

export function makeLookupProcessor(
  parts: Reputation["lookupParts"],
  { makeCache, clock }: ProcessorOptions,
) {
  const lookupProcessor = new LookupProcessor({ ...parts, makeCache, clock });
  return { lookupProcessor, stop: () => lookupProcessor.stop() };
}

/** The lookups of a service, the caches that they fill, and their end. */
export function makeLookups({ lookupParts, accounts, tally, clock, timer, tracing }: Services) {
  const caches: ValueCache<object>[] = [];
  const makeCache = <Value extends object>(maxEntries: number): ValueCache<Value> => {
    const cache = new LruValueCache<Value>({ maxEntries, ttlMs: REMEMBERED_LOOKUP_MS, clock });
    caches.push(cache as ValueCache<object>);
    return cache;
  };
  const { lookupProcessor, stop } = makeLookupProcessor(lookupParts, { makeCache, clock });
  const { pepperMac } = accounts;
  const deps = { lookupProcessor, pepperMac, tally, clock, timer, tracing, defer: systemDefer };
  return { lookups: new Lookups(deps), caches, stop };
}

/** Signs with the configured secret, or one that the store keeps from the first start on. */
export async function makeSessionDeps(
  config: Config,
  { accounts, storage, clock }: Services,
): Promise<SessionDeps> {
  const secretDeps = { secrets: new Secrets(storage.documents), mac: accounts.mac };
  const jwtSecret = config.jwtSecret ?? (await keptSecret(secretDeps, "jwt_secret"));
  const tokens = new JoseTokenIssuer(jwtSecret, clock);
  return { ...accounts, tokens, identityProvider: identityProviderOf(config, clock) };
}

function identityProviderOf(config: Config, clock: Clock): JwksIdentityProvider | null {
  const { jwtJwksUrl: jwksUrl, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (jwksUrl === null || issuer === null || audience === null) return null;
  return new JwksIdentityProvider({ jwksUrl, issuer, audience, clock });
}
