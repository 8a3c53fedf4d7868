import { AppError } from "../../domain/shared/errors.ts";
import type { SecretComparison } from "../../ports/crypto/crypto.ts";
import { ANYBODY, type Guard } from "../description.ts";

export interface SyncKeyGuardDeps {
  readonly isSyncEnabled: boolean;
  /** `SYNC_API_KEY`; empty when not configured. */
  readonly syncApiKey: string;
  readonly comparison: SecretComparison;
}

/** Admits callers with the deployment's key, where sync is enabled; checked in the order of S-5. */
export function syncKey(deps: SyncKeyGuardDeps): Guard<null> {
  return {
    security: [{ syncKey: [] }],
    failures: {
      401: { text: "X-Sync-Key missing or wrong", headers: {} },
      403: "Sync is disabled",
      500: "No sync key is configured, or an internal error",
    },
    admit({ headers }) {
      if (!deps.isSyncEnabled) throw new AppError("sync_disabled", "Sync is disabled here");
      if (deps.syncApiKey === "") {
        throw new AppError("sync_key_not_configured", "No sync key is configured here");
      }
      const given = headers.get("x-sync-key") ?? "";
      const expected = new TextEncoder().encode(deps.syncApiKey);
      if (given !== "" && deps.comparison.isEqual(headerBytes(given), expected)) return ANYBODY;
      throw new AppError("sync_key_rejected", "The X-Sync-Key header is missing or wrong");
    },
  };
}

/** The bytes of a header's value, which arrives as one character per byte. */
export function headerBytes(value: string): Uint8Array {
  return Uint8Array.from(value, (character) => character.charCodeAt(0));
}
