import { RequestError } from "../../api/request-error.ts";

/** What a profile has; null when the account has no profile. */
export interface OfProfile<T> {
  readonly found: T | null;
}

/** Waits for what the service says of one's own profile. Throws as `request`. */
export async function ofProfile<T>(asked: Promise<T>): Promise<OfProfile<T>> {
  try {
    return { found: await asked };
  } catch (error) {
    if (error instanceof RequestError && error.code === "profile_not_found") return { found: null };
    throw error;
  }
}
