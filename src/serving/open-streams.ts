/** Knows the streams of events that are still being sent. */
export class OpenStreams {
  #open = 0;
  readonly #onEmpty: (() => void)[] = [];

  /** The same reply; where it is a stream of events, its end is noted. */
  follow(reply: Response): Response {
    const { headers, status } = reply;
    if (headers.get("Content-Type") !== "text/event-stream") return reply;
    // Not looked at before: a runtime makes a stream of any body that is asked for.
    const { body } = reply;
    if (body === null) return reply;
    this.#open++;
    const reader = body.getReader();
    let isOpen = true;
    const end = () => {
      if (isOpen) this.#end();
      isOpen = false;
    };
    const followed = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (!isOpen) return;
          if (!done) return controller.enqueue(value);
          controller.close();
          end();
        },
        cancel: async (reason) => {
          end();
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(followed, { status, headers });
  }

  /** Resolves once none is open. */
  async empty(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  #end(): void {
    this.#open--;
    if (this.#open > 0) return;
    for (const tell of this.#onEmpty.splice(0)) tell();
  }
}
