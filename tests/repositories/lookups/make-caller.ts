import type { StoredApiKey } from "../../../src/domain/reputation/accounts/api-key.ts";
import type { Scene } from "../../contract/lookups/reputation-harness.ts";

/** An account that looks people up, and its key. */
export async function makeCaller(scene: Scene, plan: object = {}): Promise<StoredApiKey> {
  await scene.enrol("caller", plan);
  return await scene.giveKey("caller");
}
