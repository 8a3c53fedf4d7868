// What the endpoints of administrators do with credentials, bodies and parameters that are not right.
import { describe, expect, test } from "bun:test";
import { ADMIN_ENV, jsonBody, Person } from "../reputation/people.ts";
import { SQLITE_FILE } from "../support/backends.ts";
import { RawConnection } from "../support/raw-http.ts";
import { SYNC_KEY, startApp } from "../support/sync-app.ts";
import { ADMINISTRATOR_ROUTES } from "../support/sync-routes.ts";
import { notes, SYNC, startPair, startRunApp } from "./support/run-apps.ts";

const BODY_PATHS = ADMINISTRATOR_ROUTES.filter(({ body }) => body !== undefined).map(({ path }) =>
  path.slice(SYNC.length),
);
const NO_DRY_RUN = "is not for a comparison: without repair it changes nothing";
const REMOTE = { SYNC_REMOTE_URL: "http://127.0.0.1:9" };

describe("credentials", () => {
  test.each(ADMINISTRATOR_ROUTES)(
    "D-4.1, S-5 $method $path takes administrators only",
    async ({ method, path }) => {
      const app = await startApp({ env: ADMIN_ENV });
      const call = (headers: Record<string, string>) =>
        app.send(path, { method, headers, ...(method === "POST" ? { body: "{" } : {}) });
      const ana = await Person.signUp(app, "ana");
      const refused: [Record<string, string>, number][] = [
        [{}, 401],
        [{ "X-Sync-Key": SYNC_KEY }, 401],
        [{ "X-API-Key": await ana.issueKey() }, 401],
        [{ Authorization: "Bearer" }, 401],
        [{ Authorization: "Bearer x.y.z" }, 401],
        [{ Authorization: `Basic ${btoa("root:correct horse battery")}` }, 401],
        [{ Cookie: "repsync_session=x" }, 401],
        [{ Authorization: `Bearer ${ana.token}` }, 403],
        [{ Cookie: `repsync_session=${ana.token}` }, 403],
      ];
      for (const [headers, status] of refused) {
        const reply = await call(headers);
        expect([headers, reply.status]).toEqual([headers, status]);
        expect(Object.keys(reply.json)).toEqual(["error"]);
        expect(reply.headers.has("www-authenticate")).toBe(status === 401);
      }
      const root = await Person.signIn(app, "root");
      const cookie = {
        Cookie: `other=1; repsync_session=${root.token}`,
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/json",
      };
      expect([401, 403]).not.toContain((await call(cookie)).status);
      await root.send("/v1/sessions/current", { method: "DELETE" });
      expect((await call({ Authorization: `Bearer ${root.token}` })).status).toBe(401);
    },
  );

  test.each(BODY_PATHS)(
    "D-4.1, D-3.11, D-4.2.1 %s looks at the token before the body",
    async (path) => {
      const app = await startApp({ env: ADMIN_ENV });
      const connection = await RawConnection.open(app.url);
      const lines = [`POST ${SYNC}${path} HTTP/1.1`, "Host: localhost", "Content-Length: 1000"];
      await connection.write(`${lines.join("\r\n")}\r\n\r\n{`);
      expect((await connection.readReply()).status).toBe(401);
    },
  );
});

describe("bodies", () => {
  test.each(BODY_PATHS)(
    "D-4.2, D-4.2.2 %s answers 400 {error} to what is no JSON object",
    async (path) => {
      const app = await startRunApp({ env: REMOTE });
      for (const body of ["[]", "null", "1", '"text"', "{", "\u0000", " ", "{'a':1}", "\xff"]) {
        const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0));
        const reply = await app.ask(path, { method: "POST", body: bytes });
        expect([body, reply.status, Object.keys(reply.json)]).toEqual([body, 400, ["error"]]);
      }
      const large = await app.ask(path, { method: "POST", body: `{"a":"${"x".repeat(70_000)}"}` });
      expect([large.status, Object.keys(large.json)]).toEqual([413, ["error"]]);
    },
  );

  test("S-4.4.1, D-4.2, D-4.2.1, D-4.2.2 trigger() answers 400 to a value that is none, also where nothing is configured", async () => {
    const app = await startRunApp();
    const refused: [object, string][] = [
      [{ direction: "sideways" }, "direction must be one of push, pull, both"],
      [{ direction: "PUSH" }, "direction must be one of push, pull, both"],
      [{ direction: "" }, "direction must be one of push, pull, both"],
      [{ direction: null }, "direction must be one of push, pull, both"],
      [{ direction: ["push"] }, "direction must be one of push, pull, both"],
      [{ direction: 1, table: 5 }, "direction must be one of push, pull, both"],
      [{ table: 5 }, "table must be a string"],
      [{ table: ["notes"] }, "table must be a string"],
      [{ table: false }, "table must be a string"],
      [{ full: "true" }, "full must be true or false"],
      [{ full: 1 }, "full must be true or false"],
      [{ full: null }, "full must be true or false"],
      [{ dry_run: {} }, "dry_run must be true or false"],
      [{ force: "yes" }, "force must be true or false"],
      [{ max_deletes: -1 }, "max_deletes must be a whole number from 0 to 9007199254740991"],
      [{ max_deletes: "3" }, "max_deletes must be a whole number from 0 to 9007199254740991"],
    ];
    for (const [body, error] of refused) {
      const reply = await app.ask("/trigger", jsonBody(body));
      expect([body, reply.status, reply.json]).toEqual([body, 400, { error }]);
    }
  });

  test("S-4.5.1, S-4.5.2, D-4.2.2 triggerSse() answers 400 to a value that is none, and without a table", async () => {
    const app = await startRunApp();
    const refused: [object, string][] = [
      [{ table: "notes", direction: "both" }, "direction must be one of push, pull"],
      [{ direction: "sideways" }, "direction must be one of push, pull"],
      [{}, "table is required for a sync with a stream; name one table"],
      [{ table: "" }, "table is required for a sync with a stream; name one table"],
      [{ table: null, full: 1 }, "table is required for a sync with a stream; name one table"],
      [{ table: 7 }, "table must be a string"],
      [{ table: "notes", full: "no" }, "full must be true or false"],
      [{ table: "notes", dry_run: 0 }, "dry_run must be true or false"],
      [{ table: "notes", force: 0 }, "force must be true or false"],
    ];
    for (const [body, error] of refused) {
      const reply = await app.ask("/trigger-sse", jsonBody(body));
      expect([body, reply.status, reply.json]).toEqual([body, 400, { error }]);
    }
  });

  test("D-7.1.1 force with both directions is 400, before the configuration is looked at", async () => {
    const app = await startRunApp();
    const error =
      "Only a push or a pull can be forced: with both, each end would overwrite the other";
    for (const body of [{ force: true }, { force: true, direction: "both", table: "notes" }]) {
      const reply = await app.ask("/trigger", jsonBody(body));
      expect([body, reply.status, reply.json]).toEqual([body, 400, { error }]);
    }
    for (const body of [{ force: false }, { force: true, direction: "pull", max_deletes: null }]) {
      const reply = await app.ask("/trigger", jsonBody(body));
      expect([body, reply.json["type"]]).toEqual([body, "config_error"]);
    }
  });

  test("D-4.10, D-4.2 compare() answers 400 to a value that is none, and without a table", async () => {
    const app = await startRunApp({ env: REMOTE });
    const refused: [object, string][] = [
      [{}, "table is required for a comparison; name one table"],
      [{ table: "notes", repair: "both" }, "repair must be one of push, pull, newest"],
      [{ table: "notes", repair: true }, "repair must be one of push, pull, newest"],
      [{ table: "notes", repair: "push", dry_run: true }, `dry_run ${NO_DRY_RUN}`],
      ...[null, "newest"].flatMap((repair): [object, string][] => [
        [
          { table: "notes", repair, delete: true },
          'delete needs `repair` to be "push" or "pull": it removes what only that end has',
        ],
        [
          { table: "notes", repair, force: true },
          'force needs `repair` to be "push" or "pull": it overwrites rows of that end',
        ],
      ]),
    ];
    for (const [body, error] of refused) {
      const reply = await app.ask("/compare", jsonBody(body));
      expect([body, reply.status, reply.json]).toEqual([body, 400, { error }]);
    }
  });

  test("S-7, D-4.2 an unknown table is 400 {error} on every endpoint", async () => {
    const app = await startRunApp({ env: REMOTE });
    for (const path of BODY_PATHS) {
      const reply = await app.ask(path, jsonBody({ table: "no_such_table" }));
      expect([path, reply.status, Object.keys(reply.json)]).toEqual([path, 400, ["error"]]);
      expect(reply.json["error"]).toStartWith('Unknown table "no_such_table"; tables here: ');
    }
    const rejected = await app.ask("/rejected?table=no_such_table");
    expect([rejected.status, Object.keys(rejected.json)]).toEqual([400, ["error"]]);
  });

  test("D-4.9 a list's parameter with an empty value is as if it were not there", async () => {
    const app = await startRunApp();
    const replies = [];
    for (const path of ["/rejected?table=&limit=&cursor=", "/runs?limit=&cursor="]) {
      replies.push((await app.ask(path)).status);
    }
    expect(replies).toEqual([200, 200]);
  });

  test("D-4.2, D-4.2.2 a missing and an empty body are {}, and fields of no meaning are ignored", async () => {
    const app = await startRunApp();
    for (const options of [{}, { body: "" }, { body: "{}" }, { body: '{"colour":1}' }]) {
      const reply = await app.ask("/trigger", { method: "POST", ...options });
      expect([reply.status, reply.json["type"]]).toEqual([400, "config_error"]);
      const stream = await app.ask("/trigger-sse", { method: "POST", ...options });
      expect(stream.json["error"]).toStartWith("table is required");
    }
  });
});

describe("configuration problems", () => {
  test.each([
    [{ SYNC_ENABLED: "false" }, "Sync is disabled; set SYNC_ENABLED=true to enable it"],
    [{ SYNC_ENABLED: "true" }, "The remote's address is missing; set SYNC_REMOTE_URL"],
    [
      { SYNC_REMOTE_URL: "http://127.0.0.1:9", SYNC_API_KEY: "" },
      "The remote's key is missing; set SYNC_REMOTE_KEY or SYNC_API_KEY",
    ],
  ])("S-4.4.5, S-6.1, D-4.2 %j is a config_error", async (env, error) => {
    const app = await startRunApp({ env });
    const reply = await app.trigger({ table: "notes", full: true });
    expect([reply.status, reply.json]).toEqual([400, { error, type: "config_error" }]);
    const compared = await app.ask("/compare", jsonBody({ table: "notes" }));
    expect([compared.status, compared.json]).toEqual([400, { error, type: "config_error" }]);
    expect(await app.stream({ table: "notes", direction: "pull", full: true })).toEqual([
      { type: "error", table: "notes", direction: "pull", error },
      { type: "finished" },
    ]);
  });

  test("S-4.4.2, D-4.2 a configuration problem is found before a marker is cleared", async () => {
    const storage = { STORAGE_URL: await SQLITE_FILE.makeUrl() };
    const { local } = await startPair({ env: storage });
    await local.push("versions", { records: [{ name: "a", at: "2026-01-01T00:00:00Z" }] });
    await local.trigger({ table: "versions" });
    const markers = await local.markers();
    expect(Object.keys(markers).length).toBe(2);
    await local.stop();
    const unconfigured = await startRunApp({ env: storage });
    const reply = await unconfigured.trigger({ full: true });
    expect([reply.status, reply.json["type"]]).toEqual([400, "config_error"]);
    await unconfigured.stream({ table: "versions", full: true });
    expect(await unconfigured.markers()).toEqual(markers);
  });
});

describe("lists", () => {
  test.each(["/runs", "/rejected"])(
    "D-4.9, D-5.5 %s refuses a bad limit or cursor",
    async (path) => {
      const app = await startRunApp();
      for (const limit of ["0", "1001", "-1", "1.5", "ten", "1e2", "99999"]) {
        const reply = await app.ask(`${path}?limit=${limit}`);
        const error = "limit must be a whole number from 1 to 1000";
        expect([limit, reply.status, reply.json]).toEqual([limit, 400, { error }]);
      }
      for (const cursor of ["x", "nonsense", "a%20b", "%00", "x".repeat(500)]) {
        const reply = await app.ask(`${path}?cursor=${cursor}`);
        const error = "cursor must be a next_cursor of this list";
        expect([cursor, reply.status, reply.json]).toEqual([cursor, 400, { error }]);
      }
      for (const query of ["", "?limit=1", "?limit=1000", "?limit=&cursor="]) {
        const reply = await app.ask(`${path}${query}`);
        expect([reply.status, reply.json]).toEqual([200, { items: [], next_cursor: null }]);
      }
    },
  );
});

describe("digest()", () => {
  test("D-4.10 digest() tells ranges of the key, and the rows where they are asked for", async () => {
    const app = await startRunApp();
    await app.push("notes", { records: notes(5) });
    const key = { headers: { "X-Sync-Key": SYNC_KEY } };
    const whole = await app.send(`${SYNC}/digest/notes?segment_rows=2`, key);
    expect(whole.json).toMatchObject({ table: "notes", has_more: false });
    const segments = whole.json["segments"] as Record<string, unknown>[];
    expect(segments.map(({ through, count }) => [through, count])).toEqual([
      [["n0001"], 2],
      [["n0003"], 2],
      [null, 1],
    ]);
    const range = `after=${encodeURIComponent('["n0001"]')}&through=${encodeURIComponent('["n0003"]')}`;
    const rows = await app.send(`${SYNC}/digest/notes?${range}&records=true`, key);
    expect(rows.json["records"]).toEqual([
      { name: "n0002", body: "body of n0002" },
      { name: "n0003", body: "body of n0003" },
    ]);
    expect(rows.json["segments"]).toEqual([segments[1]]);
    for (const query of ["segment_rows=0", "after=n0001", "through=[1,2]", "after={}"]) {
      const reply = await app.send(`${SYNC}/digest/notes?${query}`, key);
      expect([query, reply.status, Object.keys(reply.json)]).toEqual([query, 400, ["error"]]);
    }
    const unknown = await app.send(`${SYNC}/digest/no_such_table`, key);
    expect(unknown.status).toBe(400);
  });
});
