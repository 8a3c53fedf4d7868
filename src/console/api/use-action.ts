import { useRef, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "./request-error.ts";

/** Something that somebody starts and that may fail. */
interface Action {
  /** Starts it, unless it is under way. Never rejects. */
  readonly run: () => Promise<void>;
  readonly isBusy: boolean;
  /** Why it failed the last time; null when it did not. */
  readonly error: RequestError | null;
}

/** Keeps whether `work` is under way, and its failure. */
export function useAction(work: () => Promise<unknown>): Action {
  const [state, setState] = useState<Omit<Action, "run">>({ isBusy: false, error: null });
  const isUnderWay = useRef(false);

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
  }

  return { ...state, run };
}
