// 16 KB of one character, or of two in turns, wherever a stranger may put text: never an error of ours, and never more
// time than the text takes to be read. A pattern that is tried from each of its places takes a hundred times as much.
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { SEED } from "../support/seed.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { ADMIN_ENV, Person } from "./reputation/people.ts";
import { type OpenApiDocument, openApiDocument } from "./support/check-reply.ts";
import { RawConnection, type RawReply } from "./support/raw-http.ts";
import { SYNC_KEY, type SyncApp, startApp } from "./support/sync-app.ts";
import { TABLES } from "./support/tables.ts";

setDefaultTimeout(120_000);

/** With the other headers just below the 16 KiB that the server reads of a request's head. */
const LENGTH = 14_500;
/** CPU time of this process, which is the client too. Most requests take 1 ms; `/\/+$/` on 14,500 slashes takes 80. */
const MOST_MS = 25;
/** Other work of the process, such as collecting garbage, does not meet a request so often. */
const TRIES = 20;

/** Bytes as they go over the wire, one character each. */
const wire = (text: string) => Buffer.from(text).toString("latin1");
const VISIBLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i));
const PUNCTUATION = VISIBLE.filter((character) => /[^A-Za-z]/.test(character));
const LETTERS = ["a", "e", "f", "g", "n", "q", "x", "A", "E", "T", "Z"];
const BYTES = ["\x80", "\x85", "\xa0", "\xff"];
const MULTI_BYTE = ["ä", "漢", "\u2028", "\u202e", "\u3164", "😀"].map(wire);
const PAIRS = ["/%", "%/", "/.", "./", "..", "a/", ",;", "a=", "[]", "e+", "0."];
const ESCAPES = ["%20", "%2F", "%0A", "%C3%A4", "%ff", "%e2%80%a8"];
/** What the server takes in a path. */
const UNITS = [...PUNCTUATION, ...LETTERS, ...BYTES, ...MULTI_BYTE, ...ESCAPES, ...PAIRS];
const HEADER_UNITS = [...UNITS, " ", "\t", "; "];

const random = new SeededRandom(SEED);

let app: SyncApp;
let openApi: OpenApiDocument;
let credentials: string;

beforeAll(async () => {
  const collector = "http://127.0.0.1:9"; // Takes nothing: what counts is that callers' headers are read.
  app = await startApp({
    env: { ...ADMIN_ENV, TRUSTED_PROXY_HOPS: "1", OTEL_EXPORTER_OTLP_ENDPOINT: collector },
  });
  openApi = await openApiDocument(app.url);
  const root = await Person.signIn(app, "root");
  credentials = [
    `X-Sync-Key: ${SYNC_KEY}`,
    `Authorization: Bearer ${root.token}`,
    `X-API-Key: ${await root.issueKey()}`,
  ].join("\r\n");
});

test("D-11.1.1 no path of odd characters stalls the service", async () => {
  const operations = Object.entries(openApi.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ path, method: method.toUpperCase() })),
  );
  const others = ["/console", "/console/tables", "/console/assets/", "/swagger", "/favicon.ico"];
  const gets = others.map((path) => ({ path, method: "GET" }));
  expect(operations.length).toBeGreaterThan(50);
  await everyRequest(
    [...operations, ...gets].flatMap(({ path, method }) =>
      runsOf(UNITS).flatMap((run) => {
        const behind = `${method} ${filled(path, "notes")}${run}x/`;
        return path.includes("{") ? [behind, `${method} ${filled(path, `${run}x`)}`] : [behind];
      }),
    ),
  );
});

test("D-11.1.1 no query of odd characters stalls the service", async () => {
  const parameters = Object.entries(openApi.paths).flatMap(([path, item]) => {
    const { parameters: known = [] } = (item["get"] ?? {}) as unknown as WithParameters;
    const names = known.filter((known) => known.in === "query").map(({ name }) => name);
    return [...names, "unknown"].map((name) => `GET ${filled(path, "notes")}?${name}=`);
  });
  expect(parameters.length).toBeGreaterThan(60);
  await everyRequest(parameters.flatMap((line) => runsOf(UNITS).map((run) => `${line}${run}x`)));
});

/** Headers by a route where something reads them, with what may stand before the odd characters. */
const HEADERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "GET /": {
    Accept: ["", "text/html"],
    Host: ["", "[", "localhost:"],
    traceparent: ["", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-"],
    tracestate: ["", "a="],
    baggage: [""],
    "X-Request-Id": [""],
    "If-None-Match": ["", 'W/"'],
    "If-Modified-Since": [""],
    Range: ["bytes="],
    "X-HTTP-Method-Override": [""],
  },
  "GET /metrics": { Host: ["", "["], "X-Forwarded-For": [""], Forwarded: ["", "for="], Via: [""] },
  "GET /console/assets/": { "Accept-Encoding": ["", "gzip", "gzip;q=0"] },
  "GET /v1/public/profiles/ana": { "X-API-Key": ["", "rep_live_"] },
  "GET /v1/me": {
    Authorization: ["", "Bearer ", "Bearer e30.", "Bearer e30.e30."],
    Cookie: ["", "repsync_session=", "a=1; repsync_session=e30."],
  },
  "OPTIONS /v1/sessions": { "Access-Control-Request-Headers": [""], Origin: ["http://"] },
  "POST /v1/sessions": {
    "Content-Type": ["", "application/json", "multipart/form-data; boundary="],
    Origin: ["", "http://", "http://["],
    "Sec-Fetch-Site": [""],
    "X-Forwarded-For": ["", "[", "fe80::1%", "1:"],
    "X-Forwarded-Proto": [""],
    "X-Forwarded-Host": [""],
  },
  "POST /api/v1/sync/push/notes": {
    "X-Sync-Key": [""],
    "Content-Encoding": ["", "gzip"],
    "Content-Length": [""],
    "Transfer-Encoding": [""],
    "X-Content-SHA256": [""],
    "X-Sync-Conflict": [""],
    "X-Sync-Dry-Run": [""],
    "X-Sync-Run": [""],
  },
};

test("D-11.1.1 no header of odd characters stalls the service", async () => {
  const [script = ""] = /assets\/[\w-]+\.js/.exec((await app.send("/console")).text) ?? [];
  expect(script).not.toBe("");
  for (const [route, headers] of Object.entries(HEADERS)) {
    const line = route.replace("assets/", script);
    for (const [name, beginnings] of Object.entries(headers)) {
      const values = beginnings.flatMap((start) => runsOf(HEADER_UNITS).map((run) => start + run));
      await everyRequest(values.map((value) => [line, [name, `${value}x`]]));
    }
  }
});

test("D-11.1.1 no field of odd characters stalls the service", async () => {
  const bodies = runsOf([...UNITS, " ", "\t", "\n", "\0"]).map((run) => {
    const text = `${Buffer.from(run, "latin1").toString()}x`;
    const columns = Object.keys(TABLES.samples.columns);
    const records = columns.map((column) => ({ name: "n", [column]: text }));
    return JSON.stringify({ records: [{ name: text }, ...records], sync_timestamp: text });
  });
  const push = "POST /api/v1/sync/push/samples";
  await everyRequest(bodies.map((body) => [push, null, body]));
});

interface WithParameters {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

/** A request line without its version, perhaps a header in place of the usual one, perhaps a body. */
type OddRequest =
  | string
  | readonly [line: string, header: readonly [string, string] | null, body?: string];

/** Each unit repeated; one of them, and two in turns, that chance chooses come last. */
function runsOf(units: readonly string[]): readonly string[] {
  const mixed = Array.from({ length: 3 }, () => random.pick(units) + random.pick(units));
  return [...units, ...mixed].map((unit) => unit.repeat(LENGTH / unit.length));
}

function filled(path: string, value: string): string {
  return path.replace(/\{\w+\}/, () => value).replace(/\{\w+\}/g, "none");
}

/** Sends one after the other. Fails with those that took too long or got a 5xx. */
async function everyRequest(requests: readonly OddRequest[]): Promise<void> {
  const client = new Client();
  for (const request of requests) {
    const bytes = bytesOf(request);
    const costs: number[] = [];
    do {
      const before = process.cpuUsage();
      const { status } = await client.send(bytes);
      const { user, system } = process.cpuUsage(before);
      costs.push((user + system) / 1000);
      if (status >= 500) throw new Error(`${status} for ${shown(bytes)} (SEED=${SEED})`);
    } while (Math.min(...costs) > MOST_MS && costs.length < TRIES);
    if (Math.min(...costs) > MOST_MS) {
      throw new Error(`${costs.map(Math.round)} ms for ${shown(bytes)} (SEED=${SEED})`);
    }
  }
}

function bytesOf(request: OddRequest): string {
  const [line, header = null, body = ""] = typeof request === "string" ? [request] : request;
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const usual = ["Host: localhost", ...credentials.split("\r\n"), length];
  // A token in the header goes before the cookie.
  const replaced = header?.[0] === "Cookie" ? "Authorization" : header?.[0];
  const kept = usual.filter((text) => !text.startsWith(`${replaced}:`));
  const odd = header === null ? [] : [header.join(": ")];
  return [`${line} HTTP/1.1`, ...kept, ...odd, "", wire(body)].join("\r\n");
}

/** With runs cut short. */
function shown(bytes: string): string {
  return JSON.stringify(bytes.replace(/([\s\S]{1,18}?)\1{20,}/g, "$1…").slice(0, 300));
}

/** One connection, and another where the server ended it. */
class Client {
  #connection: RawConnection | null = null;

  async send(bytes: string): Promise<RawReply> {
    this.#connection ??= await RawConnection.open(app.url);
    await this.#connection.write(bytes);
    const reply = await this.#connection.readReply();
    if (reply.headers.get("connection") === "close" || !reply.headers.has("x-request-id")) {
      this.#connection.close();
      this.#connection = null;
    }
    return reply;
  }
}
