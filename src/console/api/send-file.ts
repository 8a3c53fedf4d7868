// A file as the body of a request. A browser reads the reply only once it has sent all of it, and what it has sent no `fetch`
// tells: so that somebody can see how far it has come, files go by the older way.
import type { SentFile } from "./interface.ts";
import { RequestError } from "./request-error.ts";

/** Resolves with the reply once it begins. Throws as `fetch`, and the signal's reason once `signal` is aborted. */
export function sendFile(
  address: string,
  { content, type, onSent }: SentFile,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const request = new XMLHttpRequest();
  const encoder = new TextEncoder();
  return new Promise((resolve, reject) => {
    let reply: ReadableStreamDefaultController<Uint8Array> | null = null;
    let readChars = 0;

    function readOn() {
      const text = request.responseText;
      reply?.enqueue(encoder.encode(text.slice(readChars)));
      readChars = text.length;
    }

    function fail(error: unknown) {
      reject(error);
      reply?.error(error);
    }

    request.open("POST", address);
    request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = ({ loaded }) => onSent?.(loaded);
    request.onreadystatechange = () => {
      if (request.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          reply = controller;
        },
        cancel: () => request.abort(),
      });
      resolve(new Response(body, { status: request.status, headers: headersOf(request) }));
    };
    request.onprogress = readOn;
    request.onload = () => {
      readOn();
      reply?.close();
    };
    request.onerror = () => fail(notSent());
    signal?.addEventListener("abort", () => {
      request.abort();
      fail(signal.reason);
    });
    request.send(content);
  });
}

function headersOf(request: XMLHttpRequest): Headers {
  const lines = request.getAllResponseHeaders().trim().split("\r\n");
  return new Headers(
    lines.map((line): [string, string] => {
      const [name = "", ...value] = line.split(":");
      return [name, value.join(":").trim()];
    }),
  );
}

function notSent(): RequestError {
  return new RequestError(0, {
    detail: "The file could not be sent to its end",
    hint: "Check that the service runs, and that nobody has changed the file meanwhile; then choose it again",
  });
}
