/** The connection behind a request, for its handler. */
export interface ConnectionInfo {
  /** Address of the socket's other end, without port; null when the runtime does not tell. */
  readonly remoteAddress: string | null;
  /** True where the server by itself ends a connection whose request has a body that nobody read. */
  readonly endsUnread?: boolean;
  /** Lets this one exchange be silent for as long as it takes; a server cuts silent connections otherwise. */
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
  /** How long a connection may be silent unless its request is kept open; the adapter chooses when absent. */
  readonly idleTimeoutSeconds?: number;
}

export interface HttpServer {
  /** The real address, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /**
   * Resolves when the port is free, before anybody else has a turn. It goes on serving the connections that it has, where the runtime
   * can; at least what is in hand is answered. The last call.
   */
  leavePort(): Promise<void>;
  /** Gives the port back before it returns, takes no new connection, lets requests in hand finish for up to `graceMs`, then cuts what is left. */
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
