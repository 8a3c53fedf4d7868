/**
 * True in `npm test`, where servers play suites of ports, and everything else is played in memory and on SQLite; false in
 * `npm run test:slow`, in the gate, and where files are named.
 */
export const IS_QUICK = process.env["TEST_PART"] === "quick";

type Step = () => Promise<void>;

const steps: Step[] = [];

/**
 * Registers a step that preload.ts takes once after the last test. `afterAll` of bun:test would run it after the file that loads
 * us first.
 */
export function afterAllTests(step: Step): void {
  steps.push(step);
}

/** Takes the registered steps, the last one first. */
export async function takeLastSteps(): Promise<void> {
  for (const step of steps.splice(0).reverse()) await step();
}
