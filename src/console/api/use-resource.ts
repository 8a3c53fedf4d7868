import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, Reply, RequestOptions } from "./interface.ts";
import { request } from "./request.ts";
import { asRequestError, type RequestError } from "./request-error.ts";

/** Something that is loaded from the service, and kept while it is loaded again. */
export interface Resource<T> {
  /** Null until the first load has ended well, and once one by another key failed; what is loaded is never null itself. */
  readonly data: T | null;
  /** Why the last load failed; null when it did not. */
  readonly error: RequestError | null;
  /** There is more to come, or what is here is of another key. */
  readonly isLoading: boolean;
  /** What is here is of another key. */
  readonly isStale: boolean;
  /** Loads again. Never rejects. */
  readonly reload: () => Promise<void>;
}

/** Load again what the page shows. */
const shown = new Set<() => Promise<void>>();

/** Loads anew all that the page shows, as somebody has changed it. Never rejects. */
export async function reloadShown(): Promise<void> {
  await Promise.all([...shown].map((reload) => reload()));
}

/** Milliseconds until something is loaded again from a service that did not answer. */
const RETRY_MS = 5_000;

const KNOWN = { error: null, isLoading: false, isStale: false };

interface ResourceOptions {
  /** The key of what is loaded, such as the filter: when it changes, the resource is loaded again. */
  readonly key?: string;
  /** Milliseconds between the end of a load and the next; null for none. Pauses while the tab is hidden. */
  readonly pollMs?: number | null;
}

/**
 * Loads something now, again as the options say, and again while the service does not answer. `load` may show what it has so
 * far; its signal is aborted once nobody needs the data.
 */
export function useResource<T>(
  load: (signal: AbortSignal, show: (soFar: T) => void) => Promise<T>,
  { key = "", pollMs = null }: ResourceOptions = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, "reload">>({
    data: null,
    error: null,
    isLoading: true,
    isStale: false,
  });
  const loadRef = useRef(load);
  loadRef.current = load;
  const reloadRef = useRef(async () => {});

  // The key stands for what the loader loads.
  useEffect(() => {
    let underWay = new AbortController();
    let timer: number | undefined;
    let isOver = false;
    let waitMs = pollMs;

    async function run(): Promise<void> {
      clearTimeout(timer);
      underWay.abort();
      const controller = new AbortController();
      underWay = controller;
      const isDropped = () => isOver || controller.signal.aborted;
      try {
        const data = await loadRef.current(controller.signal, (soFar) => {
          if (!isDropped()) setState({ data: soFar, ...KNOWN, isLoading: true });
        });
        waitMs = pollMs;
        if (!isDropped()) setState({ data, ...KNOWN });
      } catch (failure) {
        if (isDropped()) return;
        const error = asRequestError(failure);
        waitMs = isPassing(error) ? RETRY_MS : pollMs;
        setState(({ data, isStale }) => ({ ...KNOWN, data: isStale ? null : data, error }));
      }
      if (!isDropped()) schedule();
    }

    function schedule() {
      if (waitMs !== null && !document.hidden) timer = window.setTimeout(run, waitMs);
    }

    function onVisibility() {
      if (waitMs === null) return;
      if (document.hidden) clearTimeout(timer);
      else void run();
    }

    reloadRef.current = run;
    shown.add(run);
    document.addEventListener("visibilitychange", onVisibility);
    setState((before) => ({ ...before, isLoading: true, isStale: before.data !== null }));
    void run();
    return () => {
      isOver = true;
      shown.delete(run);
      clearTimeout(timer);
      underWay.abort();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [key, pollMs]);

  return { ...state, reload: () => reloadRef.current() };
}

/** The reply to a request, loaded again when its options change. */
export function useReply<O extends Asked>(
  operation: O,
  options: RequestOptions<O>,
  pollMs: number | null = null,
): Resource<Reply<O>> {
  return useResource((signal) => request(operation, { ...options, signal }), {
    key: JSON.stringify(options),
    pollMs,
  });
}

/** True when the service only does not answer now. */
function isPassing({ code, status }: RequestError): boolean {
  return code === "unreachable" || status === 503;
}
