/** What an error is to a caller; null when nothing was thrown. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<{ kind: unknown; message: string } | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: "kind" in error ? error.kind : error.name, message: error.message };
  }
}
