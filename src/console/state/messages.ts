// The message about what just happened, for everybody to see and for screen readers to say.
import { signal } from "@preact/signals";

/** Empty when there is nothing to say. */
export const message = signal("");

/** Shows a sentence until the next one, or until another page is opened. */
export function say(text: string): void {
  message.value = text;
}

let forNextPage = "";

/** Shows a sentence on the page that is opened next. */
export function sayOnNextPage(text: string): void {
  forNextPage = text;
}

/** Ends the message of another page. */
export function beginPage(): void {
  message.value = forNextPage;
  forNextPage = "";
}
