// Whether a backup can be restored with the secrets of this configuration. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import { pepperMark } from "../reputation/accounts/secrets.ts";

/** What the store of a backup keeps of the pepper; null where it keeps nothing. */
export interface KeptPepper {
  /** The pepper that the store made itself. */
  readonly pepper: string | null;
  /** By which the pepper is known that the store began with. */
  readonly mark: string | null;
}

/**
 * Throws `invalid_request` when no API key of the backup would be known with the pepper that the store would have, nor its
 * audit log verify.
 */
export function checkPepper(mac: Mac, configured: string | null, kept: KeptPepper): void {
  if (kept.mark === null) return;
  const pepper = configured ?? kept.pepper;
  if (pepper === null) {
    throw new AppError(
      "invalid_request",
      "API_KEY_PEPPER is missing: the deployment of the backup had it from its environment, so set it to the same",
    );
  }
  if (pepperMark(mac, pepper) === kept.mark) return;
  const text =
    configured === null
      ? "The backup does not hold the API_KEY_PEPPER that its deployment began with: set it"
      : "API_KEY_PEPPER does not fit the backup: set it to the one that its deployment began with";
  throw new AppError("invalid_request", text);
}
