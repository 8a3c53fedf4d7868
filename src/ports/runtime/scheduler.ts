/** Calls work at the times that a cron text names, in the time zone of the process. */
export interface Scheduler {
  /**
   * Begins. A time that comes while the work of an earlier one still goes on is passed over. `work` never rejects.
   * Throws when the text is no cron text.
   */
  start(cronText: string, work: () => Promise<void>): { stop(): void };
}
