/** One attempt to deliver an alert. */
export interface AlertMessage {
  readonly id: string;
  /** JSON text. */
  readonly body: string;
  /** The value of `Repsync-Signature`. */
  readonly signature: string;
}

/** Brings alerts to the address that operators have named. D-10.12. */
export interface AlertSender {
  /**
   * Resolves to null when the receiver answered 2xx within 10 s, otherwise to the reason for the log, in a few words
   * without the address. Never rejects. `signal` ends it at once.
   */
  send(message: AlertMessage, signal: AbortSignal): Promise<string | null>;
}
