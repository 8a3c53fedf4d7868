// What refusals must not tell: whether a hidden profile exists, what consents there were. And names of any kind.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkAsyncProperty } from "../../support/seed.ts";
import { rawExchange } from "../support/raw-http.ts";
import { essence } from "./essence.ts";
import { dataOf, jsonBody, lookUp, Person, releaseName } from "./people.ts";
import { onReputationBackends, startReputation } from "./reputation-backends.ts";

const ENDPOINTS = ["/reputation", "", "/platforms"];
const UNLIMITED = { plan: "enterprise", rate_limit_per_minute: 1_000_000 };

onReputationBackends("disclosure", (backend) => {
  async function setScene() {
    const app = await startReputation(backend);
    const caller = await Person.signUp(app, "caller");
    const root = await Person.signIn(app, "root");
    await root.send("/v1/admin/accounts/caller/plan", jsonBody(UNLIMITED, "PUT"));
    return { app, caller, key: await caller.issueKey() };
  }

  test("D-6.2, D-5.2, D-6.2.1 a hidden profile is told as one that does not exist, whatever else there is of it", async () => {
    const { app, key } = await setScene();
    const ana = await Person.signUp(app, "ana");
    await ana.consent();
    await app.push("platform_accounts", {
      records: [{ username: "ana", platform: "github", verified: true }],
    });
    await ana.send("/v1/me/profile", jsonBody({ public: false }, "PATCH"));
    // One who has platform accounts and no profile; `root` has an account and none.
    await app.push("platform_accounts", { records: [{ username: "cleo", platform: "etsy" }] });
    for (const rest of ENDPOINTS) {
      const of = async (username: string) => essence(await lookUp(app, key, { username, rest }));
      const missing = await of("nobody");
      expect(missing).toMatchObject({ status: 404, code: "profile_not_found" });
      for (const username of ["ana", "cleo", "root"]) expect(await of(username)).toEqual(missing);
    }
    await ana.send("/v1/me/profile", jsonBody({ public: true }, "PATCH"));
    expect((await lookUp(app, key, { username: "ana" })).status).toBe(200);
  });

  test("D-6.1, D-5.2, D-6.2.1 a consent that was never given, was revoked or was for something else is told alike", async () => {
    const { app, key } = await setScene();
    for (const name of ["never", "revoked", "other"]) await Person.signUp(app, name);
    const revoked = await Person.signIn(app, "revoked");
    await revoked.send(`/v1/me/consents/${await revoked.consent()}`, { method: "DELETE" });
    const other = await Person.signIn(app, "other");
    await other.consent("platforms_lookup");
    const of = async (username: string) => essence(await lookUp(app, key, { username }));
    const never = await of("never");
    expect(never).toMatchObject({ status: 403, code: "consent_required" });
    for (const username of ["revoked", "other"]) expect(await of(username)).toEqual(never);
  });

  test("D-6.2, R-4 names of up to 200 characters of any kind are found as they are, percent-encoded", async () => {
    const { app, key } = await setScene();
    const name = fc
      .string({ unit: "binary", minLength: 1, maxLength: 200 })
      .map((text) => [...text.toWellFormed()].slice(0, 200).join(""))
      // A path cannot hold these two, however they are written: addresses take them out.
      .filter((text) => ![".", ".."].includes(text));
    await checkAsyncProperty(
      fc.asyncProperty(name, async (username) => {
        const reply = await app.push("profiles", { records: [{ username, public: true }] });
        expect(reply.json).toMatchObject({ upserted: 1 });
        expect((await lookUp(app, key, { username })).json["code"]).toBe("consent_required");
        const longer = `${username}x`;
        expect((await lookUp(app, key, { username: longer })).status).toBe(404);
      }),
      40,
    );
  });

  test("D-6.2, D-6.2.2 damaged escapes in a path are names that nobody has", async () => {
    const { app, key } = await setScene();
    await Person.signUp(app, "ana");
    for (const [segment, code] of [
      ["%2E%2E", "not_found"],
      ["%61na", "consent_required"],
      ["%", "profile_not_found"],
      ["%zz", "profile_not_found"],
      ["%ED%A0%80", "profile_not_found"],
      ["a%2Fb", "profile_not_found"],
    ]) {
      const line = `GET /v1/public/profiles/${segment}/reputation HTTP/1.1`;
      const request = `${line}\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
      const reply = await rawExchange(app.url, request);
      const { code: seen } = JSON.parse(new TextDecoder().decode(reply.body));
      expect([segment, seen]).toEqual([segment, code]);
    }
  });

  test("R-1, D-5.5, D-6.5 accesses are those of the person, by the name of the caller, until it is erased", async () => {
    const { app, caller, key } = await setScene();
    const ana = await Person.signUp(app, "ana");
    await lookUp(app, key, { username: "ana" });
    await ana.consent();
    for (const rest of ENDPOINTS) await lookUp(app, key, { username: "ana", rest });
    await lookUp(app, "rep_live_x", { username: "ana" });
    const shown = async () => {
      const items = dataOf(await ana.send("/v1/me/accesses"))["items"];
      return (items as Record<string, unknown>[]).map((item) => {
        expect(Object.keys(item)).toEqual([
          ...["id", "at", "account", "purpose", "decision", "code", "request_id"],
        ]);
        return [item["account"], item["purpose"], item["decision"], item["code"]];
      });
    };
    const all = (name: string) => [
      [name, "platforms_lookup", "allowed", null],
      [name, "profile_lookup", "allowed", null],
      [name, "reputation_lookup", "allowed", null],
      [name, "reputation_lookup", "denied", "consent_required"],
    ];
    expect(await shown()).toEqual(all("caller"));
    await caller.send("/v1/me", { method: "DELETE" });
    expect(await shown()).toEqual(all(""));
    await releaseName(app, "caller");
    const again = await Person.signUp(app, "caller");
    expect(dataOf(await again.send("/v1/me/accesses"))).toEqual({ items: [], next_cursor: null });
    expect(await shown()).toEqual(all(""));
  });
});
