/** A file of the console as it is sent. */
export interface ConsoleFile {
  /** With the character set. */
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** The console as it was last built. */
export interface BuiltConsole {
  /** Names of its script and its style sheet; another content has another name. */
  readonly script: string;
  readonly style: string;
  /** Addresses of its pages as patterns, such as `/console/runs/:run`. */
  readonly pages: readonly string[];
  /** Files by name. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The files of the web console. D-9.1. */
export interface ConsoleFiles {
  /** The files of the last build, even when it ended a moment ago; null without one. */
  read(): Promise<BuiltConsole | null>;
}
