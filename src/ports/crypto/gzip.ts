/** Gzip in both directions (RFC 1952). */
export interface Gzip {
  /** Compresses with `GZIP_LEVEL`. Large inputs leave the event loop free. */
  compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Decompresses one or several members into one body. D-3.5.
   * Throws `AppError` of kind `integrity`, its message starting `gzip decompression failed`, when the input is damaged,
   * cut or followed by anything but zeros; `body_too_large` when the output would exceed `maxBytes`, which is found
   * without keeping the output.
   */
  decompress(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array>;
}
