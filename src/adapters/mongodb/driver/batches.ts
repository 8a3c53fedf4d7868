/** The most that one batch holds. A single item may be larger. */
interface BatchLimits<T> {
  readonly maxItems: number;
  readonly maxBytes: number;
  bytesOf(item: T): number;
}

/** Cuts items into batches that fit a message, in order. No batch is empty. */
export function cutBatches<T>(items: readonly T[], limits: BatchLimits<T>): T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let batchBytes = 0;
  for (const item of items) {
    const bytes = limits.bytesOf(item);
    const isFull = batch.length === limits.maxItems || batchBytes + bytes > limits.maxBytes;
    if (batch.length === 0 || isFull) {
      batch = [];
      batchBytes = 0;
      batches.push(batch);
    }
    batch.push(item);
    batchBytes += bytes;
  }
  return batches;
}
