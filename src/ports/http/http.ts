// What the service needs of HTTP: a server, the files that it gives to browsers, and who sends alerts.

/** The connection behind a request, for its handler. */
export interface ConnectionInfo {
  /** Address of the socket's other end, without port; null when the runtime does not tell. */
  readonly remoteAddress: string | null;
  /** True where the server itself ends a connection whose request has an unread body. */
  readonly endsUnread?: boolean;
  /** Lets this exchange be silent for as long as it takes; other silent connections are cut. */
  keepOpen(): void;
}

/** Never rejects. */
export type RequestHandler = (request: Request, connection: ConnectionInfo) => Promise<Response>;

/** A certificate with its chain, and its key, in PEM form. */
interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** HTTPS instead of HTTP where it is given. */
  readonly tls?: ServerCertificate | null;
  /** The time for which a connection may be silent unless its request is kept open; the adapter chooses when absent. */
  readonly idleTimeoutSeconds?: number;
}

export interface HttpServer {
  /** The real address, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /**
   * Resolves when the port is free, before anybody else has a turn. Open connections are served on where the runtime can; requests
   * in hand are answered in any case. The last call.
   */
  leavePort(): Promise<void>;
  /** Gives the port back before it returns, takes no new connection, lets requests finish for up to `graceMs`, then cuts the others. */
  stop(graceMs: number): Promise<void>;
}

/** Starts listening. Rejects when the address cannot be taken, never sharing a port with another process. */
export type StartHttpServer = (
  handler: RequestHandler,
  options: ListenOptions,
) => Promise<HttpServer>;

/** The files of the documentation page, from an installed package, so that the page needs no internet. */
export interface DocsAssets {
  /** A file's bytes. Rejects when the package is not installed. */
  read(name: "swagger-ui-bundle.js" | "swagger-ui.css"): Promise<Uint8Array<ArrayBuffer>>;
}

export interface ConsoleFile {
  /** With the character set. */
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

export interface BuiltConsole {
  /** Names of its script and its style sheet, which change with their content. */
  readonly script: string;
  readonly style: string;
  /** Addresses of its pages as patterns, such as `/console/runs/:run`. */
  readonly pages: readonly string[];
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The files of the web console. D-9.1. */
export interface ConsoleFiles {
  /** The files of the last build, however late it ended; null when there was none. */
  read(): Promise<BuiltConsole | null>;
}

/** One attempt to deliver an alert. */
export interface AlertMessage {
  readonly id: string;
  readonly body: string;
  /** The value of `Repsync-Signature`. */
  readonly signature: string;
}

/** Brings alerts to the address that operators have named. D-10.12. */
export interface AlertSender {
  /** Null for 2xx within 10 s, else the reason for the log, without the address. Never rejects. `signal` ends it at once. */
  send(message: AlertMessage, signal: AbortSignal): Promise<string | null>;
}
