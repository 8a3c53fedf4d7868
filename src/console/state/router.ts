// The address of the console, by the History API and plain links.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export const BASE = "/console";

interface Place {
  /** Below `/console`, percent-encoded, without a slash at the end. */
  readonly path: string;
  readonly search: string;
  /** The scroll position of an earlier visit; null on the first. */
  readonly scrollY: number | null;
  /** False for the page that the browser opened itself, and whose focus it sets. */
  readonly isVisit: boolean;
}

export const place = signal<Place>({ path: BASE, search: "", scrollY: null, isVisit: false });

/** Follows the address of the tab. Called once. */
export function startRouter(): void {
  history.scrollRestoration = "manual";
  place.value = { ...here(), scrollY: scrollOf(history.state), isVisit: false };
  window.addEventListener("popstate", ({ state }) => {
    const { path, search } = place.value;
    if (questions.size === 0 || here().path === path) {
      place.value = { ...here(), scrollY: scrollOf(state), isVisit: true };
    } else {
      // The browser has already gone back.
      history.pushState({}, "", path + search);
      leave(() => history.back());
    }
  });
  // Chromium drops what `pagehide` writes on a reload.
  window.addEventListener("beforeunload", rememberScroll);
  document.addEventListener("click", followLink);
}

/** Opens an address of the console. `isReplaced`: without an entry for Back. `isVisit`: by a user, so that the heading gets the focus. */
export function navigate(address: string, { isReplaced = false, isVisit = true } = {}): void {
  // A dialog gives the focus back before the page changes.
  document.querySelector("dialog")?.close();
  // Safari takes 100 changes of the history in 10 seconds, and ignores further links.
  if (!isReplaced) rememberScroll();
  history[isReplaced ? "replaceState" : "pushState"]({}, "", address);
  place.value = { ...here(), scrollY: null, isVisit };
}

/** The question to somebody who wants to leave the page. */
export const leaving = signal<{ readonly question: string; readonly go: () => unknown } | null>(
  null,
);
const questions = new Set<string>();

/** Asks before the page is left; an empty question asks nothing. */
export function useLeaveQuestion(question: string): void {
  useLayoutEffect(() => {
    if (question === "") return;
    questions.add(question);
    const letGo = holdTab();
    return () => {
      questions.delete(question);
      letGo();
    };
  }, [question]);
}

/** Leaves the page, after its question if it has one. `why` stands before the question. */
export function leave(go: () => unknown, why = ""): unknown {
  const [question] = questions;
  if (question === undefined) return go();
  leaving.value = {
    question: why + question,
    go: () => {
      questions.clear();
      return go();
    },
  };
  return;
}

/** The browser asks before the tab is closed or reloaded, until the returned function is called. */
export function holdTab(): () => void {
  const ask = (event: Event) => event.preventDefault();
  window.addEventListener("beforeunload", ask);
  return () => window.removeEventListener("beforeunload", ask);
}

/** Returns a function that tells whether the present page is still shown, for work that must not lead away from another page. */
export function whileHere(): () => boolean {
  const { path } = place.value;
  return () => place.value.path === path;
}

/** Changes parameters of the address and stays on the page. An empty value or list removes a parameter. */
export function setQuery(
  values: Readonly<Record<string, string | readonly string[]>>,
  { isReplaced = false } = {},
): void {
  const query = new URLSearchParams(place.value.search);
  for (const [name, value] of Object.entries(values)) {
    query.delete(name);
    for (const one of [value].flat()) if (one !== "") query.append(name, one);
  }
  const search = query.size === 0 ? "" : `?${query}`;
  if (search !== place.value.search) navigate(`${place.value.path}${search}`, { isReplaced });
}

/** Empty when the parameter is missing. */
export function queryValue(name: string): string {
  return new URLSearchParams(place.value.search).get(name) ?? "";
}

/** Every value of a repeated parameter. */
export function queryValues(name: string): readonly string[] {
  return new URLSearchParams(place.value.search).getAll(name);
}

/** The decoded parameters of a path in a pattern such as `/console/runs/:run`; null when it does not fit. */
export function matchAddress(
  pattern: string,
  path: string,
): Readonly<Record<string, string>> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const text = decoded(given[i] ?? "");
    if (segment.startsWith(":") && text) params[segment.slice(1)] = text;
    else if (segment !== text) return null;
  }
  return params;
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function here() {
  const path = location.pathname.replace(/\/+$/, "");
  return { path: path || "/", search: location.search };
}

function scrollOf(state: { readonly scrollY?: number } | null): number | null {
  return state?.scrollY ?? null;
}

function rememberScroll() {
  history.replaceState({ scrollY: window.scrollY }, "");
}

/** Takes clicks that would open a page of the console in this tab. */
function followLink(event: MouseEvent) {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (event.defaultPrevented || !isPlain || event.altKey) return;
  const link = (event.target as Element).closest("a");
  if (link === null || link.target !== "" || link.hasAttribute("download")) return;
  const url = new URL(link.href, location.href);
  const isSkip = url.hash !== "" && url.pathname === location.pathname;
  if (url.origin !== location.origin || isSkip || !isBelow(url.pathname)) return;
  event.preventDefault();
  const go = () => navigate(url.pathname + url.search);
  if (url.pathname === place.value.path) go();
  else leave(go);
}

function isBelow(path: string): boolean {
  return path === BASE || path.startsWith(`${BASE}/`);
}

/** An address to open after signing in: a page of this console, else `/console`. */
export function safeAddress(text: string): string {
  if (!URL.canParse(text, location.origin)) return BASE;
  const url = new URL(text, location.origin);
  return url.origin === location.origin && isBelow(url.pathname) ? url.pathname + url.search : BASE;
}
