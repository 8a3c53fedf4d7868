// Steps to take once after the last test; preload.ts takes them.
type Step = () => Promise<void>;

const steps: Step[] = [];

/** Registers a step. `afterAll` of bun:test would run it after the file that loads us first. */
export function afterAllTests(step: Step): void {
  steps.push(step);
}

/** Takes the registered steps, the last one first. */
export async function takeLastSteps(): Promise<void> {
  for (const step of steps.splice(0).reverse()) await step();
}
