// The message about what just happened, which screen readers announce.
import { signal } from "@preact/signals";

/** May be empty. */
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

export function beginPage(): void {
  message.value = forNextPage;
  forNextPage = "";
}
