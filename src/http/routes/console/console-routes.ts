// The web console: its page, the same at every address, and its files. D-9.1, D-9.2.
import type { BuiltConsole, ConsoleFile, ConsoleFiles } from "../../../ports/http/http.ts";
import type { Exchange } from "../../exchange.ts";
import { type Operation, pageAt } from "../../operation.ts";

const ASSETS = "/console/assets/";
/** Without the look behind, the time would be quadratic in the slashes. D-11.1. */
const LAST_SLASHES = /(?<!\/)\/+$/;
/** The name of a file changes with its content. */
const FOR_EVER = "public, max-age=31536000, immutable";

/** `GET /console` and below. The same for everybody: the page asks who is signed in. */
export function consoleRoutes(files: ConsoleFiles): Operation[] {
  const answer = async (exchange: Exchange) => {
    const { path, search } = exchange;
    if (path.endsWith("/")) {
      const address = path.replace(LAST_SLASHES, "") + search;
      const headers = { ...exchange.replyHeaders(), Location: address };
      return new Response(null, { status: 308, headers });
    }
    const built = await files.read();
    if (built === null) return pageReply(exchange, NOT_BUILT, 503);
    if (path.startsWith(ASSETS)) {
      const file = built.files.get(path.slice(ASSETS.length));
      if (file !== undefined) return fileReply(exchange, file);
    }
    return pageReply(exchange, pageOf(built), isPage(built, path) ? 200 : 404);
  };
  return [pageAt("/console", answer), pageAt("/console/*", answer)];
}

function isPage({ pages }: BuiltConsole, path: string): boolean {
  if (path === "/console") return true;
  const given = path.split("/");
  return pages.some((page) => {
    const wanted = page.split("/");
    const fits = (segment: string, i: number) =>
      segment === given[i] || (segment.startsWith(":") && given[i] !== "");
    return wanted.length === given.length && wanted.every(fits);
  });
}

function fileReply(exchange: Exchange, { contentType, bytes, gzip }: ConsoleFile): Response {
  const headers = {
    ...exchange.replyHeaders(),
    "Content-Type": contentType,
    "Cache-Control": FOR_EVER,
    Vary: "Accept-Encoding",
  };
  const isGzip = takesGzip(exchange.headers.get("accept-encoding") ?? "");
  if (!isGzip) return new Response(bytes, { headers });
  return new Response(gzip, { headers: { ...headers, "Content-Encoding": "gzip" } });
}

function takesGzip(accepted: string): boolean {
  const codings = accepted.split(",");
  return codings.some((coding) => /^ *(?:x-)?gzip *(?:; *q=(?!0(?:\.0*)? *$).*)?$/i.test(coding));
}

function pageReply(exchange: Exchange, html: string, status: number): Response {
  const content = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" };
  return new Response(html, { status, headers: { ...exchange.replyHeaders(), ...content } });
}

function pageOf({ script, style }: BuiltConsole): string {
  return documentOf(`<link rel="stylesheet" href="${ASSETS}${style}">
<script type="module" src="${ASSETS}${script}"></script>`);
}

function documentOf(head: string, body = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>repsync</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
<div id="console">${body}</div>
<noscript>The console needs JavaScript; the interface is described at <a href="/swagger">/swagger</a></noscript>
</body>
</html>
`;
}

const NOT_BUILT = documentOf(
  "",
  "<main><h1>repsync</h1><p>The console is not built: run <code>npm run build</code></p></main>",
);
