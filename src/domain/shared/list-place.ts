// Places of a list that only grows, as text: the list's name, which is random, and a number from 0.
import { AppError } from "./errors.ts";

export function placeText(list: string, place: number): string {
  return `${list}-${place}`;
}

/** The place that a text names; null for one that the list never gave. */
export function parsePlace(list: string, lastPlace: number, text: string): number | null {
  const place = Number(text.slice(list.length + 1));
  const isGiven = Number.isInteger(place) && place >= 0 && place <= lastPlace;
  return isGiven && text === placeText(list, place) ? place : null;
}

/** The place of a cursor; null is 0, the place before all. Throws `invalid_request` for a cursor that was never given. */
export function placeOfCursor(list: string, lastPlace: number, cursor: string | null): number {
  const place = cursor === null ? 0 : parsePlace(list, lastPlace, cursor);
  if (place !== null) return place;
  throw new AppError("invalid_request", "The cursor is none that this store gave");
}
