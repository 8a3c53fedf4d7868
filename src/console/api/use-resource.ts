import { useEffect, useRef, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "./request-error.ts";

/** Something that is loaded from the service, and kept while it is loaded again. */
export interface Resource<T> {
  /** Null until the first load has ended well. */
  readonly data: T | null;
  /** Why the last load failed; null when it did not. */
  readonly error: RequestError | null;
  readonly isLoading: boolean;
  /** Loads again. Never rejects. */
  readonly reload: () => Promise<void>;
}

interface ResourceOptions {
  /** What is loaded, such as the filter: when it changes, it is loaded again. */
  readonly key?: string;
  /** Milliseconds between the end of a load and the next; null for none. Pauses while the tab is hidden. */
  readonly pollMs?: number | null;
}

/** Loads something now, and again as the options say. A load under way is aborted when it is no longer needed. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  { key = "", pollMs = null }: ResourceOptions = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, "reload">>({
    data: null,
    error: null,
    isLoading: true,
  });
  const loadRef = useRef(load);
  loadRef.current = load;
  const reloadRef = useRef(async () => {});

  // The key stands for what the loader loads.
  useEffect(() => {
    let underWay = new AbortController();
    let timer: number | undefined;
    let isOver = false;

    async function run(): Promise<void> {
      clearTimeout(timer);
      underWay.abort();
      const controller = new AbortController();
      underWay = controller;
      setState((before) => ({ ...before, isLoading: true }));
      const isDropped = () => isOver || controller.signal.aborted;
      try {
        const data = await loadRef.current(controller.signal);
        if (!isDropped()) setState({ data, error: null, isLoading: false });
      } catch (error) {
        if (isDropped()) return;
        setState(({ data }) => ({ data, error: asRequestError(error), isLoading: false }));
      }
      if (!isDropped()) schedule();
    }

    function schedule() {
      if (pollMs !== null && !document.hidden) timer = window.setTimeout(run, pollMs);
    }

    function onVisibility() {
      if (pollMs === null) return;
      if (document.hidden) clearTimeout(timer);
      else void run();
    }

    reloadRef.current = run;
    document.addEventListener("visibilitychange", onVisibility);
    void run();
    return () => {
      isOver = true;
      clearTimeout(timer);
      underWay.abort();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [key, pollMs]);

  return { ...state, reload: () => reloadRef.current() };
}
