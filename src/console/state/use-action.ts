import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Reply, ReplyOperation, RequestOptions } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { reloadShown } from "../api/use-resource.ts";
import { say } from "./messages.ts";

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
