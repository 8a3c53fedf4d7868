import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Reply, ReplyOperation, RequestOptions } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { say } from "./page-visit.ts";

/** Data of the service, which stay while they are loaded again. */
export interface Resource<T> {
  /** Null before the first load, and after a failed load by another key. Data are never null. */
  readonly data: T | null;
  /** The failure of the last load. */
  readonly error: RequestError | null;
  /** True while more is to come, or the data are of another key. */
  readonly isLoading: boolean;
  /** True while the data are of another key. */
  readonly isStale: boolean;
  /** Never rejects. */
  readonly reload: () => Promise<void>;
}

/** Reloads of everything on the page. */
const shown = new Set<() => Promise<void>>();

/** Loads anew all that the page shows, after a change. Never rejects. */
export async function reloadShown(): Promise<void> {
  await Promise.all([...shown].map((reload) => reload()));
}

/** Milliseconds before the next attempt at a service that did not answer. */
const RETRY_MS = 5_000;

const KNOWN = { error: null, isLoading: false, isStale: false };

interface ResourceOptions {
  /** What is loaded, such as the filter: another key loads again. */
  readonly key?: string;
  /** Milliseconds from the end of a load to the next; null for none. A hidden tab does not poll. */
  readonly pollMs?: number | null;
}

/**
 * Loads data now, as the options say, and again while the service does not answer. `load` may show data so far; its signal is aborted
 * when nobody needs the data any more.
 */
export function useResource<T>(
  load: (signal: AbortSignal, show: (soFar: T) => void) => Promise<T>,
  { key = "", pollMs = null }: ResourceOptions = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, "reload">>({
    data: null,
    ...KNOWN,
    isLoading: true,
  });
  const loadRef = useRef(load);
  loadRef.current = load;
  const reloadRef = useRef(async () => {});

  // The key stands for `load`.
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
        const mayAnswerLater = error.code === "unreachable" || error.status === 503;
        waitMs = mayAnswerLater ? RETRY_MS : pollMs;
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

/** The reply to a request, loaded again when the options change. */
export function useReply<O extends ReplyOperation>(
  operation: O,
  options: RequestOptions<O>,
  pollMs: number | null = null,
): Resource<Reply<O>> {
  return useResource((signal) => request(operation, { ...options, signal }), {
    key: JSON.stringify(options),
    pollMs,
  });
}

interface Action {
  /** Starts the work unless it is under way. Never rejects. */
  readonly run: () => Promise<void>;
  readonly isBusy: boolean;
  /** The last failure; null after a success. */
  readonly error: RequestError | null;
}

/** Tracks `work`. A failure with no place left to show it becomes the message. */
export function useAction(work: () => Promise<unknown>): Action {
  const [state, setState] = useState<Omit<Action, "run">>({ isBusy: false, error: null });
  const isUnderWay = useRef(false);
  const left = useLeaving();

  async function run() {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setState({ isBusy: true, error: null });
    let error: RequestError | null = null;
    try {
      await work();
    } catch (failure) {
      error = asRequestError(failure);
    }
    isUnderWay.current = false;
    setState({ isBusy: false, error });
    // The page for signing in tells that a session has ended.
    if (left.aborted && error !== null && error.status !== 401) say(`Not done: ${error.detail}`);
  }

  return { ...state, run };
}

/** Aborted when the component has left the page. */
export function useLeaving(): AbortSignal {
  const [controller] = useState(() => new AbortController());
  useLayoutEffect(() => () => controller.abort(), []);
  return controller.signal;
}

/** Makes a change, says so, and reloads what the page shows. Throws as `request`. */
export async function change<O extends ReplyOperation>(
  operation: O,
  options: RequestOptions<O>,
  done: string | ((reply: Reply<O>) => string),
): Promise<void> {
  const reply = await request(operation, options);
  say(typeof done === "string" ? done : done(reply));
  await reloadShown();
}
