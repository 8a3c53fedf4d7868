// What a run tells, for any number of readers, however slow: the run never waits for them.
import type { RunEvent } from "../../../domain/sync/run/run.ts";

/** The events of one run. */
export interface RunFeed {
  publish(event: RunEvent): void;
  /** No event comes after this. */
  close(): void;
  /** The events from the first on; ends with the last. */
  read(): AsyncGenerator<RunEvent, void, undefined>;
}

/** One reader's events that it has not taken yet. */
interface Reader {
  readonly events: RunEvent[];
  wake(): void;
}

/**
 * Starts a feed. Batches of one table and direction that a reader has not taken become one, which counts the rows and
 * bytes of all of them; so what is kept for a reader does not grow with the rows.
 */
export function startRunFeed(): RunFeed {
  const all: RunEvent[] = [];
  const readers = new Set<Reader>();
  let isClosed = false;

  async function* read(): AsyncGenerator<RunEvent, void, undefined> {
    const reader: Reader = { events: [...all], wake: () => {} };
    readers.add(reader);
    try {
      for (;;) {
        const event = reader.events.shift();
        if (event !== undefined) yield event;
        else if (isClosed) return;
        else {
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
        }
      }
    } finally {
      readers.delete(reader);
    }
  }

  return {
    read,
    publish(event) {
      addEvent(all, event);
      for (const reader of readers) {
        addEvent(reader.events, event);
        reader.wake();
      }
    },
    close() {
      isClosed = true;
      for (const reader of readers) reader.wake();
    },
  };
}

function addEvent(events: RunEvent[], event: RunEvent): void {
  const last = events.at(-1);
  const isSameBatch =
    last?.type === "batch" &&
    event.type === "batch" &&
    last.table === event.table &&
    last.direction === event.direction;
  if (!isSameBatch) {
    events.push(event);
    return;
  }
  events[events.length - 1] = {
    ...event,
    recordsSent: last.recordsSent + event.recordsSent,
    bytesCompressed: last.bytesCompressed + event.bytesCompressed,
    bytesUncompressed: last.bytesUncompressed + event.bytesUncompressed,
    upserted: last.upserted + event.upserted,
    errorCount: last.errorCount + event.errorCount,
  };
}
