// What a test opened, closed after it: `afterEach(releaseResources)` in every file that opens something.
type Release = () => void | Promise<void>;

const releases: Release[] = [];

/** Remembers how to close something. */
export function keepResource(release: Release): void {
  releases.push(release);
}

/** Closes everything, the last first, also when closing something fails. */
export async function releaseResources(): Promise<void> {
  const failures: unknown[] = [];
  for (const release of releases.splice(0).reverse()) {
    try {
      await release();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "Resources could not be closed");
}
