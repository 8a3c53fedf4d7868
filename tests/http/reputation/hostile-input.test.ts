// What every operation under /v1 does with bodies, queries and paths that mean harm: a problem with its code, never a
// 5xx, and nothing is changed. D-5.2, D-5.5.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { releaseResources } from "../../support/resources.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import type { Backend } from "../support/backends.ts";
import type { Reply, RequestOptions, SyncApp } from "../support/sync-app.ts";
import { dataOf, jsonBody, Person } from "./people.ts";
import { onReputationBackends, startReputation } from "./reputation-backends.ts";
import { BODY_ROUTES, nameOf, ROUTES, type RouteUnderTest } from "./routes.ts";

setDefaultTimeout(120_000);

/** What bodies that are no JSON object with known fields are told. */
const REFUSED_BODIES: readonly (string | Uint8Array<ArrayBuffer>)[] = [
  ...["[]", "null", "1", "true", '"text"', "{", "}", "{}{}", "{} x", "NaN", "undefined", "\u0000"],
  ...["{'a':1}", "{a:1}", '{"a":1,}', "[".repeat(30_000), '{"a":'.repeat(10_000)],
  `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  ...['{"unknown":1}', '{"":1}', '{"__proto__":{"polluted":true}}', '{"constructor":1}'],
  ...[
    '{"prototype":{"polluted":true}}',
    '{"toString":1}',
    '{"hasOwnProperty":1}',
    '{"$where":"1"}',
  ],
  '{"constructor":{"prototype":{"polluted":true}}}',
  ...[
    "username=ana&password=x",
    "<xml/>",
    "--b\r\nContent-Disposition: form-data\r\n\r\n1\r\n--b--",
  ],
  new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  new Uint8Array([0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00]),
];

/** Values of a type or shape that no field takes. */
const WRONG_VALUES: readonly unknown[] = [
  ...[[], {}, [["a"]], { $ne: null }, { $gt: "" }, { $where: "sleep(1000)" }, ["a", "b"]],
  ...[{ __proto__: null, toString: "x" }, { length: 5 }, 1.5, -1, 1e308],
];

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "'; DROP TABLE repsync_accounts; --",
    "\u0000",
    "\ud83d\ude00",
    "__proto__",
    "$ne",
  ),
  fc.constantFrom(0, -0, 2 ** 53, 1e21, "9".repeat(400), "2026-02-30", "2999-01-01T00:00:00Z"),
);

/** A service with an administrator and `ana`, who ask from another address each time; closed after the tests. */
function useService(backend: Backend) {
  let app: SyncApp;
  let root: Person;
  let ana: Person;

  beforeAll(async () => {
    app = await startReputation(backend);
    root = await Person.signIn(app, "root");
    ana = await Person.signUp(app, "ana");
    await ana.consent();
  });
  afterAll(releaseResources);

  let addresses = 0;

  /** A request with a good credential, from an address of its own. */
  async function send(route: RouteUnderTest, path: string, options: RequestOptions) {
    const { token } = route.credential === "administrator" ? root : ana;
    addresses++;
    const address = `10.9.${addresses >> 8}.${addresses & 255}`;
    const headers: Record<string, string> = { "X-Forwarded-For": address, ...options.headers };
    if (route.credential !== "none") headers["Authorization"] = `Bearer ${token}`;
    return await app.send(path, { method: route.method, ...options, headers });
  }

  /** Everything of `ana` that a request could change. */
  async function stateOfAna() {
    const paths = ["/v1/me", "/v1/me/consents", "/v1/me/api-keys", "/v1/me/reputation"];
    const replies = await Promise.all(paths.map((path) => ana.send(path)));
    return replies.map(dataOf);
  }
  return { send, stateOfAna };
}

function expectRefused(reply: Reply, what: unknown) {
  expect([what, reply.status, reply.json["code"]]).toEqual([what, 400, "invalid_request"]);
  const errors = reply.json["errors"] as { pointer: string; detail: string }[];
  expect(errors.length).toBeGreaterThan(0);
  for (const { pointer } of errors) expect(pointer).toMatch(/^(\/|$)/);
  expect(reply.text).not.toMatch(/at \/|\.ts:|node_modules|SQLITE|Mongo|JSON\.parse|SyntaxError/);
}

onReputationBackends("hostile bodies", (backend) => {
  const { send, stateOfAna } = useService(backend);

  test.each(BODY_ROUTES)(
    "D-5.2, D-5.5, D-5.2.3, D-5.2.2 $method $template refuses bodies that are no object of its fields",
    async (route) => {
      const before = await stateOfAna();
      const types = ["application/json", "text/plain", "multipart/form-data; boundary=b"];
      for (const [i, body] of REFUSED_BODIES.entries()) {
        const headers = { "Content-Type": types[i % types.length] ?? "" };
        expectRefused(await send(route, route.path, { body, headers }), body);
      }
      const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`f${i}`, i]));
      const reply = await send(route, route.path, jsonBody(many, route.method));
      expectRefused(reply, "many unknown fields");
      expect(reply.text.length).toBeLessThan(20_000);
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect(await stateOfAna()).toEqual(before);
    },
  );

  test.each(BODY_ROUTES)(
    "D-5.2, D-5.5 $method $template points at every field of a wrong type",
    async (route) => {
      const before = await stateOfAna();
      for (const field of Object.keys(route.body ?? {})) {
        for (const value of WRONG_VALUES) {
          const reply = await send(
            route,
            route.path,
            jsonBody({ ...route.body, [field]: value }, route.method),
          );
          expectRefused(reply, { [field]: value });
          expect(reply.json["errors"]).toMatchObject([{ pointer: `/${field}` }]);
        }
        const alsoUnknown = { ...route.body, [`${field}/~`]: 1 };
        const reply = await send(route, route.path, jsonBody(alsoUnknown, route.method));
        expect(reply.json["errors"]).toMatchObject([{ pointer: `/${field}~1~0` }]);
      }
      expect(await stateOfAna()).toEqual(before);
    },
  );

  test.each(BODY_ROUTES)(
    "D-5.2, D-5.2.3 $method $template answers 413 to more than 64 KiB, declared or not",
    async (route) => {
      const large = `{"x":"${"x".repeat(65 * 1024)}"}`;
      const stream = new ReadableStream({
        start(controller) {
          for (let i = 0; i < 70; i++)
            controller.enqueue(new TextEncoder().encode("x".repeat(1024)));
          controller.close();
        },
      });
      for (const body of [large, stream]) {
        const reply = await send(route, route.path, { body });
        expect([reply.status, reply.json["code"]]).toEqual([413, "body_too_large"]);
      }
    },
  );
});

onReputationBackends(
  "hostile input",
  (backend) => {
    const { send } = useService(backend);

    test.each(ROUTES.filter(({ isList }) => isList))(
      "D-5.5, D-5.5.2 $method $template answers 400 to a bad limit or cursor, and takes no query apart",
      async (route) => {
        const bad = [
          ...[
            "limit=0",
            "limit=1001",
            "limit=-1",
            "limit=1.5",
            "limit=x",
            "limit=1e2",
            "limit=%20",
          ],
          ...["limit=99999999999999999999", "limit=10;", "limit=٣", "limit=0x10"],
          ...[
            "cursor=x",
            "cursor=not-a-cursor",
            "cursor=-1",
            "cursor=0",
            "cursor=%00",
            "cursor=%F0",
          ],
          ...[
            "cursor=a&cursor=b",
            "cursor='%20OR%201=1",
            `cursor=${"9".repeat(400)}`,
            "cursor=1.0",
          ],
          ...["cursor=2026-11-21T08:00:00Z", "cursor=%7B%22$ne%22:1%7D", "limit=5&cursor=%25"],
        ];
        for (const query of bad)
          expectRefused(await send(route, `${route.path}?${query}`, {}), query);
        const harmless = [
          ...["limit=1", "limit=1000", "limit=", "cursor=", "limit[$gt]=1", "__proto__[limit]=0"],
          ...[
            "limit=1&limit=2",
            "constructor=x",
            "unknown=%",
            "%00=1",
            "&&&",
            "=",
            "__proto__=1",
            "toString=1",
          ],
        ];
        for (const query of harmless) {
          expect([query, (await send(route, `${route.path}?${query}`, {})).status]).toEqual([
            query,
            200,
          ]);
        }
        expect(({} as Record<string, unknown>)["limit"]).toBeUndefined();
      },
    );

    test.each(ROUTES.filter(({ template }) => /\{id\}/.test(template)))(
      "D-5.2, D-6.1 $method $template answers 404 to an id that cannot be",
      async (route) => {
        const ids = [
          ...[
            "x",
            "0",
            "-1",
            "1.0",
            "1e0",
            "9".repeat(30),
            "9".repeat(3_000),
            "%00",
            "%2e%2e%2fme",
          ],
          ...[
            "__proto__",
            "constructor",
            "'%20OR%20'1'='1",
            "%7B%22$ne%22:null%7D",
            "%ff",
            "%E2%80%AE",
          ],
        ];
        for (const id of ids) {
          const path = route.template.replace("{id}", id);
          const options = route.body === undefined ? {} : jsonBody(route.body, route.method);
          const reply = await send(route, path, options);
          expect([id, reply.status, reply.json["code"]]).toEqual([id, 404, "not_found"]);
        }
      },
    );

    test("D-5.2 random bodies and queries get a documented reply below 500, on every operation", async () => {
      const request = fc.record({
        route: fc.constantFrom(...ROUTES.filter(({ method }) => method !== "DELETE")),
        fields: fc.dictionary(fc.string({ maxLength: 8 }), odd, { maxKeys: 3 }),
        changed: fc.array(odd, { minLength: 4, maxLength: 4 }),
        query: fc.webQueryParameters(),
        isKeptGood: fc.boolean(),
      });
      await checkAsyncProperty(
        fc.asyncProperty(request, async ({ route, fields, changed, query, isKeptGood }) => {
          const names = Object.keys(route.body ?? {});
          const values = names.map((name, i) => [name, changed[i]] as const);
          const body = isKeptGood ? { ...route.body, ...fields } : Object.fromEntries(values);
          const options = route.body === undefined ? {} : jsonBody(body, route.method);
          const reply = await send(route, `${route.path}?${query}`, options);
          // The reply was compared with the OpenAPI document as it came in.
          expect([nameOf(route), reply.status < 500]).toEqual([nameOf(route), true]);
        }),
        200,
      );
    });
  },
  { isEverywhere: true },
);
