// HTTP over a bare socket, for what `fetch` hides, mends or refuses to send.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { keepResource } from "../../support/resources.ts";
import { joinBytes, textOf } from "./bytes.ts";

/** A reply as it came. */
export interface RawReply {
  readonly statusLine: string;
  readonly status: number;
  /** Names and values in their order, as written; a name may come twice. */
  readonly headerLines: readonly (readonly [string, string])[];
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Only what never comes takes so long, however busy the machine is; tests take at most 60 s. */
const DEADLINE_MS = 50_000;
const HEAD_END = "\r\n\r\n";

/** A connection that sends what a test writes and reads replies. */
export class RawConnection {
  readonly #socket: Socket;
  #received: Uint8Array = new Uint8Array();
  #isEnded = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => {
      this.#received = joinBytes(this.#received, chunk);
      this.#wake();
    });
    socket.on("close", () => {
      this.#isEnded = true;
      this.#wake();
    });
    // A reset is an end too.
    socket.on("error", () => {});
  }

  /** Connects; rejects when the connection is refused. */
  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    const connection = new RawConnection(socket);
    keepResource(() => connection.close());
    return connection;
  }

  /** Sends text as bytes (one per character) or bytes; resolves when the system took them or the peer closed. */
  async write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    if (this.#isEnded || this.#socket.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#socket.off("drain", done);
        this.#socket.off("close", done);
        resolve();
      };
      this.#socket.on("drain", done);
      this.#socket.on("close", done);
    });
  }

  /** Reads the next reply. `toHead`: it has no body, whatever its headers say. Rejects when none comes. */
  async readReply(options: { readonly toHead?: boolean } = {}): Promise<RawReply> {
    await this.#until("the head of a reply", () => this.#headEnd() >= 0);
    const headEnd = this.#headEnd();
    const [statusLine = "", ...lines] = latin1(this.#received.subarray(0, headEnd)).split("\r\n");
    const headerLines = lines.map((line) => {
      const [name = "", ...rest] = line.split(":");
      return [name, rest.join(":").trim()] as const;
    });
    const headers = new Headers(headerLines.map(([name, value]) => [name, value]));
    const status = Number(statusLine.split(" ")[1]);
    const isBodyless = options.toHead === true || status < 200 || status === 204 || status === 304;
    const bodyBytes = isBodyless ? 0 : Number(headers.get("content-length") ?? 0);
    const bodyStart = headEnd + HEAD_END.length;
    const isComplete = () => this.#received.length >= bodyStart + bodyBytes;
    await this.#until(`a body of ${bodyBytes} bytes`, isComplete);
    const body = this.#received.slice(bodyStart, bodyStart + bodyBytes);
    this.#received = this.#received.slice(bodyStart + bodyBytes);
    return { statusLine, status, headerLines, headers, body };
  }

  /** Everything up to the first occurrence of a text, that included, as it came: for replies without an end. */
  async readUntil(text: string): Promise<string> {
    const endOf = () => Buffer.from(this.#received).indexOf(text);
    await this.#until(`"${text}"`, () => endOf() >= 0);
    const end = endOf() + text.length;
    const read = latin1(this.#received.subarray(0, end));
    this.#received = this.#received.slice(end);
    return read;
  }

  /** Resolves when the peer has closed the connection; bytes that nobody read are returned. */
  async readToEnd(): Promise<Uint8Array> {
    await this.#until("the end of the connection", () => this.#isEnded);
    return this.#received;
  }

  /** Takes nothing more, until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  #headEnd(): number {
    return Buffer.from(this.#received).indexOf(HEAD_END);
  }

  async #until(what: string, isReached: () => boolean): Promise<void> {
    const failure = () => new Error(`Waited for ${what}, got: ${latin1(this.#received)}`);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, DEADLINE_MS);
    try {
      while (!isReached()) {
        if (isLate || this.#isEnded) throw failure();
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Sends one request on a connection of its own and reads its reply. */
export async function rawExchange(url: string, request: string | Uint8Array): Promise<RawReply> {
  const connection = await RawConnection.open(url);
  await connection.write(request);
  const head = typeof request === "string" ? request : latin1(request.subarray(0, 8));
  const reply = await connection.readReply({ toHead: head.startsWith("HEAD ") });
  connection.close();
  return reply;
}

/** The text of a reply's body. */
export function bodyText(reply: RawReply): string {
  return textOf(reply.body);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
