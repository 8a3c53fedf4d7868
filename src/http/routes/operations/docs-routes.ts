// The OpenAPI document and its page, which loads everything from this service. D-6.8, D-8.6.
import { openapi } from "@elysiajs/openapi";
import { Elysia } from "elysia";
import type { Registry } from "../../../domain/sync/table/table.ts";
import type { Digest } from "../../../ports/crypto/crypto.ts";
import type { DocsAssets } from "../../../ports/http/http.ts";
import type { Exchange } from "../../exchange.ts";
import { openApiOf } from "../../openapi.ts";
import { type Operation, pageAt } from "../../operation.ts";
import { secured } from "../../page-security.ts";

interface DocsRoutesDeps {
  readonly assets: DocsAssets;
  readonly digest: Digest;
  /** The document names its tables. */
  readonly registry: Registry;
}

const PAGE = "/swagger";
const DOCUMENT = "/swagger/json";
const SCRIPT = "/swagger/swagger-ui-bundle.js";
const STYLE = "/swagger/swagger-ui.css";
/** Addresses here, so that the page needs no internet. */
const SWAGGER_UI = { url: DOCUMENT, cdn: SCRIPT, theme: STYLE };

/** `operations`: those of the document. */
export function docsRoutes(
  operations: readonly Operation[],
  { assets, digest, registry }: DocsRoutesDeps,
): Operation[] {
  let plugin = pluginFor(operations);
  let names = tableNames(registry);
  const made = async (path: string, exchange: Exchange) => {
    if (tableNames(registry) !== names) {
      plugin = pluginFor(operations);
      names = tableNames(registry);
    }
    const reply = await plugin.handle(new Request(`http://localhost${path}`));
    const headers = { ...Object.fromEntries(reply.headers), ...exchange.replyHeaders() };
    return new Response(await reply.bytes(), { status: reply.status, headers });
  };
  return [
    pageAt(PAGE, async (exchange) => secured(await made(PAGE, exchange), digest)),
    pageAt(DOCUMENT, (exchange) => made(DOCUMENT, exchange)),
    pageAt(SCRIPT, async (exchange) => {
      const script = await assets.read("swagger-ui-bundle.js");
      return secured(assetReply(exchange, script, "text/javascript; charset=utf-8"), digest);
    }),
    pageAt(STYLE, async (exchange) =>
      assetReply(exchange, await assets.read("swagger-ui.css"), "text/css; charset=utf-8"),
    ),
    // Browsers ask for it on every page.
    pageAt("/favicon.ico", (exchange) => {
      return new Response(null, { status: 204, headers: exchange.replyHeaders() });
    }),
  ];
}

/** The plugin keeps the document that it makes. */
function pluginFor(operations: readonly Operation[]) {
  return new Elysia().use(
    openapi({
      path: PAGE,
      specPath: DOCUMENT,
      provider: "swagger-ui",
      swagger: SWAGGER_UI,
      documentation: openApiOf(operations),
    }),
  );
}

function tableNames(registry: Registry): string {
  return [...registry.keys()].join();
}

function assetReply(exchange: Exchange, bytes: Uint8Array<ArrayBuffer>, contentType: string) {
  const headers = { "Content-Type": contentType, "Cache-Control": "public, max-age=3600" };
  return new Response(bytes, { headers: { ...headers, ...exchange.replyHeaders() } });
}
