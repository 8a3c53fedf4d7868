import type { SessionDeps } from "../../src/usecases/reputation/accounts/deps.ts";

/** For a use case that asks for no more than this part; one that does fails. */
export function accountDeps(part: Partial<SessionDeps>): SessionDeps {
  return part as SessionDeps;
}
