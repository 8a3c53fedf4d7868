import type { BodyFields } from "../../../domain/sync/run/trigger-body.ts";
import type { IdentityDeps } from "../../../usecases/reputation/accounts/identity.ts";
import { requireThenRead, requireUsername } from "../../guards/bearer.ts";
import { readJsonObject } from "../../json-object-body.ts";

/** Who sends a body of these fields, and the body. Throws as `requireUser` and `readJsonObject`. */
export async function readUserBody(
  deps: IdentityDeps,
  request: Request,
  fieldNames: readonly string[],
): Promise<{ readonly username: string; readonly body: BodyFields }> {
  const { caller: username, body } = await requireThenRead(
    () => requireUsername(deps, request.headers),
    () => readJsonObject(request, fieldNames),
  );
  return { username, body };
}
