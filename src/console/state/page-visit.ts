// What goes with a page as it opens: title, focus, scroll position, and the message.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { navigate, place } from "./router.ts";

/** Time for a page to grow to its old scroll position. */
const RESTORE_MS = 3_000;

/** Does what a browser does when a page opens: title, focus on the heading of the returned reference, scroll position. */
export function usePageVisit(name: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { path, scrollY, isVisit } = place.value;

  useLayoutEffect(() => {
    pageName = name;
    setTitle("");
    if (isVisit) {
      message.value = forNextPage;
      forNextPage = "";
      heading.current?.focus({ preventScroll: true });
    }
    return restoreScroll(scrollY ?? 0);
    // A changed filter is no new page.
  }, [path, name]);
  return heading;
}

/** Focuses the heading when the focused element is removed. Called once. */
export function keepFocus(): void {
  let focused: Element | null = null;
  document.addEventListener("focusin", ({ target }) => {
    focused = target as Element;
  });
  document.addEventListener("focusout", ({ target }) =>
    // A press beside the element blurs it while it stays.
    queueMicrotask(() => {
      const element = target as Element;
      if (element.isConnected && element === focused && !element.matches(":focus")) focused = null;
    }),
  );
  const observer = new MutationObserver(() => {
    if (focused === null || focused.isConnected) return;
    focused = null;
    if (document.activeElement !== document.body) return;
    document.querySelector("h1")?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true });
}

let pageName = "";

/** Adds to the title of the tab what the page shows, such as `profiles` of `Tables`. */
export function useTitle(shown: string): void {
  useEffect(() => {
    setTitle(shown);
    return () => setTitle("");
  }, [shown]);
}

function setTitle(shown: string): void {
  document.title = [shown, pageName, "repsync"].filter((part) => part !== "").join(" · ");
}

/** Scrolls as the page grows, until it is there, the user scrolls, or it takes too long. */
function restoreScroll(top: number): () => void {
  const observer = new ResizeObserver(move);
  const timer = setTimeout(stop, RESTORE_MS);

  function move() {
    window.scrollTo({ top, behavior: "instant" });
    if (Math.abs(window.scrollY - top) < 2) stop();
  }

  function stop() {
    observer.disconnect();
    clearTimeout(timer);
    for (const type of ["wheel", "touchmove", "keydown"]) window.removeEventListener(type, stop);
  }

  for (const type of ["wheel", "touchmove", "keydown"]) window.addEventListener(type, stop);
  observer.observe(document.body);
  move();
  return stop;
}

/** The message about what just happened, which screen readers announce; may be empty. */
export const message = signal("");

/** Shows a sentence until the next one, or the next page. */
export function say(text: string): void {
  message.value = text;
}

let forNextPage = "";

/** Shows a sentence on the next page. */
export function sayOnNextPage(text: string): void {
  forNextPage = text;
}

/** Opens an address and shows a sentence there. When another page is shown by now, only shows the sentence. */
export function leadOn(isHere: () => boolean, text: string, address: string): void {
  if (isHere()) {
    sayOnNextPage(text);
    navigate(address);
  } else say(text);
}
