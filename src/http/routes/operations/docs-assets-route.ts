import { Elysia } from "elysia";
import type { DocsAssets } from "../../../ports/http/docs-assets.ts";

/** Script and style of the page at `/swagger`. */
export function docsAssetsRoute(assets: DocsAssets) {
  const hidden = { detail: { hide: true } };
  return (
    new Elysia()
      .get(
        "/swagger/swagger-ui-bundle.js",
        async () =>
          asset(await assets.read("swagger-ui-bundle.js"), "text/javascript; charset=utf-8"),
        hidden,
      )
      .get(
        "/swagger/swagger-ui.css",
        async () => asset(await assets.read("swagger-ui.css"), "text/css; charset=utf-8"),
        hidden,
      )
      // Browsers ask for one on every page.
      .get("/favicon.ico", () => new Response(null, { status: 204 }), hidden)
  );
}

function asset(bytes: Uint8Array<ArrayBuffer>, contentType: string): Response {
  return new Response(bytes, {
    headers: { "Content-Type": contentType, "Cache-Control": "public, max-age=3600" },
  });
}
