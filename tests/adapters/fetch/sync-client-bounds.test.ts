// What a reply may hold.
import { expect, test } from "bun:test";
import { createSyncClient } from "../../../src/client.ts";
import { failureOf, plainReply, startPeer } from "./sync-client-support.ts";

const KEY = "k-1-secret";

test("D-11.2.1 pullPage() of more values than a reply may hold says that less is to be asked for", async () => {
  const values = (count: number) =>
    `{"table":"t","since":null,"count":1,"total":1,"offset":0,"limit":1000,"has_more":false,"next_offset":null,"records":[{"a":[${"1,".repeat(count - 11)}1]}]}`;
  const whole = startPeer(() => plainReply(values(2_000_000)));
  expect(
    (await createSyncClient({ baseUrl: whole.baseUrl, key: KEY }).pullPage("t")).page.count,
  ).toBe(1);
  const tooLong = startPeer(() => plainReply(values(2_000_001)));
  expect(
    await failureOf(createSyncClient({ baseUrl: tooLong.baseUrl, key: KEY }).pullPage("t")),
  ).toMatchObject({
    ...{ kind: "invalid_reply", isTooLong: true },
    message: expect.stringMatching(/ got an unusable reply: it has more than 2000000 values$/),
  });
});

test("D-11.1 readStatus() looks at no more fields than a deployment has", async () => {
  const counts = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`t${i}`, 1]));
  const status = { sync_enabled: true, tables: [], table_counts: counts };
  const peer = startPeer(() => Response.json(status));
  const failure = failureOf(createSyncClient({ baseUrl: peer.baseUrl, key: KEY }).readStatus());
  const problem = `"table_counts" is not an object of at most 10000 fields, each a whole number from -1: an object`;
  expect((await failure).message).toEndWith(problem);
});

test.each([
  ["small", ""],
  ["large", "x".repeat(1_000_000)],
])(
  "D-11.1 pullPage() takes a %s reply that nests as deep as a push may, and refuses a deeper one",
  async (_, filler) => {
    const nested = (levels: number) =>
      `{"table":"t","since":null,"count":1,"total":1,"offset":0,"limit":1000,"has_more":false,"next_offset":null,"records":[{"b":"${filler}","a":${"[".repeat(levels)}${"]".repeat(levels)}}]}`;
    const pull = (levels: number) => {
      const { baseUrl } = startPeer(() => plainReply(nested(levels)));
      return createSyncClient({ baseUrl, key: KEY }).pullPage("t");
    };
    // The reply, its records and the record are three levels more.
    expect((await pull(9_997)).page.count).toBe(1);
    expect((await failureOf(pull(9_998))).message).toEndWith("it is nested too deeply");
  },
);

test("a redirect is told with where it leads, as far as its reply says so", async () => {
  let headers = {};
  const peer = startPeer(() => new Response(null, { status: 302, headers }));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  for (const [location, told] of [
    [{ Location: "/elsewhere?q" }, `, this one leads to ${peer.baseUrl}/elsewhere`],
    [{ Location: "http://[" }, ""],
    [{}, ""],
  ] as const) {
    headers = location;
    const { message } = await failureOf(client.pullPage("t"));
    expect(message).toEndWith(`was answered 302: redirects are not followed${told}`);
  }
});
