/** How a command ends. D-4.12. */
export const EXIT = {
  success: 0,
  failed: 1,
  /** A wrong command line or configuration: nothing was done. */
  usage: 2,
  /** Done, but for some records; or compared, and not equal. */
  partial: 3,
  /** The demo was interrupted before its end: 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

/** One of them. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
