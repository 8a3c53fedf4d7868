/** The turns of the event loop, so that what one turn brings can be done together. */
export interface Turns {
  /** Calls `work` once, when everything that has arrived by now has been looked at. */
  afterThis(work: () => void): void;
}
