import { makePushBody } from "./bench-rows.ts";
import { pushRows } from "./client.ts";
import { atRate, type Turn, whileWorking } from "./lookup-rounds.ts";
import type { LookupScene, LookupService } from "./lookup-services.ts";

/** Pushes beside lookups. */
export const PUSHES_PER_SECOND = 10;
const STRANGERS = 1_000;
let pushes = 0;

/** A turn of lookups while profiles of people change whom nobody looks up. */
export function loadBesideChanges(
  scene: LookupScene,
  service: LookupService,
  seconds: number,
): Turn {
  return whileWorking(scene.loadFor(seconds, service), (isOver) =>
    atRate(PUSHES_PER_SECOND, isOver, () => pushStranger(service.url)),
  );
}

async function pushStranger(url: string): Promise<void> {
  const profile = {
    username: `stranger-${++pushes % STRANGERS}`,
    display_name: `Change ${pushes}`,
    updated_at: new Date().toISOString(),
  };
  await pushRows(url, makePushBody([profile]), { table: "profiles" });
}
