// What administrators do to accounts and names. D-8.2, D-8.8.
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { AccountDeps } from "./deps.ts";

/** In the field order of D-8.2. */
interface ReleaseBody {
  readonly username: string;
  readonly status: "released";
}

/**
 * Makes the name of somebody who was erased free for a new person, and leaves an audit record. Throws `not_found` when it
 * is not so taken. D-8.2.
 */
export async function releaseName(
  deps: Pick<AccountDeps, "membership">,
  username: string,
  request: AdminRequest,
): Promise<ReleaseBody> {
  if (!(await deps.membership.release(username, request))) {
    throw new AppError("not_found", "No erased account holds this name");
  }
  return { username, status: "released" };
}
