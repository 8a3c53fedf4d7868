import { addNews, type News } from "../../../domain/sync/run/news.ts";
import type { RunNews } from "../../../domain/sync/run/run.ts";

interface Reader<Some> {
  readonly news: Some[];
  wake(): void;
}

/**
 * The news of one run or comparison, for any number of readers, however slow: it never waits for them. What is kept for a
 * reader does not grow with the rows (`addNews`).
 */
export class RunFeed<Some extends News = RunNews> {
  readonly #all: Some[] = [];
  readonly #readers = new Set<Reader<Some>>();
  #isClosed = false;
  #published = 0;

  /** How often something was published: while it stays, `told` gives the same. */
  get published(): number {
    return this.#published;
  }

  /** The news so far. */
  told(): readonly Some[] {
    return [...this.#all];
  }

  publish(news: Some): void {
    this.#published++;
    addNews(this.#all, news);
    for (const reader of this.#readers) {
      addNews(reader.news, news);
      reader.wake();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.wake();
  }

  /** The news from the first on; ends with the last. */
  async *read(): AsyncGenerator<Some, void, undefined> {
    const reader: Reader<Some> = { news: [...this.#all], wake: () => {} };
    this.#readers.add(reader);
    try {
      for (;;) {
        const news = reader.news.shift();
        if (news !== undefined) yield news;
        else if (this.#isClosed) return;
        else {
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
        }
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}
