// What a test opened, closed after it by preload.ts; what was opened before a file's tests began, after the file.
type Release = () => void | Promise<void>;

const releases: Release[] = [];
let countBefore = 0;

/** Remembers how to close something. */
export function keepResource(release: Release): void {
  releases.push(release);
}

/** What is opened from now on belongs to the test that begins. */
export function beginTest(): void {
  countBefore = releases.length;
}

export async function endTest(): Promise<void> {
  await release(countBefore);
}

/** Closes everything, the last first, also when closing something fails. */
export async function releaseResources(): Promise<void> {
  await release(0);
}

async function release(from: number): Promise<void> {
  const failures: unknown[] = [];
  for (const close of releases.splice(from).reverse()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "Resources could not be closed");
}
