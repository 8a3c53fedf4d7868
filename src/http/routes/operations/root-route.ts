import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ALLOW, headerDoc, jsonReply, REQUEST_ID } from "../../openapi.ts";
import { jsonResponse } from "../../replies.ts";
import { model } from "../../schemas/parts.ts";
import { SyncErrorSchema } from "../../schemas/sync.ts";

export interface RootRouteDeps {
  readonly isConsoleEnabled: boolean;
}

/** `GET /`: leads browsers to the console, and tells others where things are. D-9.1. */
export function rootRoute({ isConsoleEnabled }: RootRouteDeps) {
  const places = { ...(isConsoleEnabled ? { console: "/console" } : {}), ...PLACES };
  return new Elysia().get(
    "/",
    ({ request }) => {
      const headers = { Vary: "Accept" };
      if (!isConsoleEnabled || !isBrowser(request)) return jsonResponse(places, { headers });
      return new Response(null, { status: 303, headers: { ...headers, Location: "/console" } });
    },
    { detail: ROOT_DETAIL },
  );
}

const PLACES = { api: "/swagger/json", docs: "/swagger", health: "/v1/health" };

function isBrowser({ headers }: Request): boolean {
  return /\btext\/html\b/i.test(headers.get("accept") ?? "");
}

const Path = (description: string) => Type.String({ description });
const VARY = { Vary: headerDoc("Always Accept") };

const ROOT_DETAIL = {
  operationId: "findPlaces",
  tags: ["operations"],
  summary: "Tell where things are",
  security: [],
  responses: {
    200: jsonReply(
      "Where things are",
      model("Places", {
        console: Type.Optional(Path("The web console; absent where it is disabled")),
        api: Path("The description of both interfaces as OpenAPI"),
        docs: Path("The same as a page"),
        health: Path("Whether the service is alive"),
      }),
      VARY,
    ),
    303: {
      description: "Browsers are led to the console",
      headers: { ...REQUEST_ID, ...VARY, Location: headerDoc("The console") },
    },
    405: jsonReply("Another method than this path takes", SyncErrorSchema, ALLOW),
  },
};
