import { loadBesideChanges } from "../lookup-changes.ts";
import { takeTurns } from "../lookup-rounds.ts";
import { LookupScene } from "../lookup-services.ts";
import type { BenchStore } from "../stores.ts";
import type { Report, Sides } from "./paired.ts";

const ROUNDS = 8;
const SECONDS = 3;

/** Lookups over 64 connections, quiet and while ten profiles a second change. */
export async function compareLookups(
  store: BenchStore,
  { ours, other }: Sides,
  report: Report,
): Promise<void> {
  await LookupScene.use(store, { say: console.log }, async (scene) => {
    const [one, two] = [await scene.startService(ours), await scene.startService(other)];
    const loads = await takeTurns(
      {
        ours: scene.loadFor(SECONDS, one),
        other: scene.loadFor(SECONDS, two),
        oursBusy: loadBesideChanges(scene, one, SECONDS),
        otherBusy: loadBesideChanges(scene, two, SECONDS),
      },
      ROUNDS,
    );
    report("lookups", { ours: loads.ours, other: loads.other }, "lookups");
    const busy = { ours: loads.oursBusy, other: loads.otherBusy };
    report("lookups beside ten changes a second", busy, "lookups");
  });
}
