// The page of usage: limits, days, and the line that works. D-9.4.10, D-8.11.
import { expect, test } from "bun:test";
import { lookUp, Person } from "../http/reputation/people.ts";
import { startReputation } from "../http/reputation/reputation-backends.ts";
import { expectPage, onConsole, openConsole, openFor } from "./support/console-page.ts";

const ADDRESS = "/console/usage";
const HOSTILE = `'; touch /tmp/x; '$(id)\`id\`"\u202e<script>`;

/** What bash makes of a line with this key, parsed. */
async function runLine(line: string, key: string): Promise<unknown> {
  const child = Bun.spawn(["bash", "-c", line], { env: { ...Bun.env, REPSYNC_API_KEY: key } });
  const [text, code] = [await new Response(child.stdout).text(), await child.exited];
  expect([line, code]).toEqual([line, 0]);
  return JSON.parse(text);
}

onConsole("usage", (backend) => {
  test("D-9.4.10 minute and month stand against the plan, and days show calls and those denied", async () => {
    const { app, as, page, expectGood } = await openFor(backend, "shop", ADDRESS);
    await expectPage(page, "Usage");
    await page.getByText("No calls in the last 31 days").waitFor();
    await page.getByText("0 of 30 calls").waitFor();
    await expectGood();

    const ana = await Person.signUp(app, "ana");
    const key = await as.issueKey();
    await lookUp(app, key, { username: "ana" });
    await ana.consent();
    for (let i = 0; i < 29; i++) await lookUp(app, key, { username: "ana" });
    await page.reload();
    await page.getByText("30 of 30 calls").waitFor();
    await page.getByText("used up", { exact: true }).waitFor();
    await page.getByText("30 of 1,000 calls").waitFor();
    const chart = page.getByRole("figure", { name: "Calls of the last 31 days, in UTC" });
    await chart.getByText("Calls: 30").waitFor();
    await chart.getByText("Denied: 1").waitFor();
    await chart.getByText("Show as a table").click();
    const today = chart.locator("tbody tr").first();
    await today.getByRole("cell").first().waitFor();
    expect(await today.getByRole("cell").allTextContents()).toEqual(["30", "1"]);
    await expectGood();
  });

  test("D-9.4.10 an unlimited month is told as one", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const as = await Person.signUp(app, "shop");
    const body = JSON.stringify({ plan: "enterprise" });
    const headers = { "Content-Type": "application/json" };
    await root.send("/v1/admin/accounts/shop/plan", { method: "PUT", body, headers });
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    await page.getByText("0 calls, unlimited").waitFor();
    await page.getByText("0 of 6,000 calls").waitFor();
    await expectGood();
  });

  test("D-9.4.10 a name that is typed costs one change of the history a key, of which Safari takes few", async () => {
    const { page } = await openFor(backend, "shop", ADDRESS);
    const changes: string[] = [];
    await page.exposeFunction("noteChange", (address: string) => void changes.push(address));
    await page.getByLabel("Username").fill("");
    await page.evaluate(`for (const name of ["pushState", "replaceState"]) {
      const change = history[name].bind(history);
      history[name] = (state, _, address) => (noteChange(String(address)), change(state, "", address));
    }`);
    await page.getByLabel("Username").pressSequentially("ana");
    await page.waitForURL(/username=ana$/);
    expect(changes).toEqual(["a", "an", "ana"].map((name) => `${ADDRESS}?username=${name}`));
  });

  test("D-9.4.10 the curl line works as it stands, whatever the username is", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "shop");
    const ana = await Person.signUp(app, "ana");
    await ana.consent();
    const key = await as.issueKey();
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    const line = page.locator(".code-line");
    await line.waitFor();
    expect(await runLine((await line.textContent()) ?? "", key)).toMatchObject({
      code: "consent_required",
    });
    await page.getByLabel("Username").fill("ana");
    await page.reload();
    await page.getByText("/v1/public/profiles/ana/reputation").waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied the line").waitFor();
    expect(await runLine((await line.textContent()) ?? "", key)).toMatchObject({
      success: true,
      data: { username: "ana", star_level: 1 },
    });
    await page.getByLabel("Username").fill(HOSTILE);
    await expectGood();
    expect(await runLine((await line.textContent()) ?? "", key)).toMatchObject({
      code: "profile_not_found",
    });
    await page.getByLabel("Username").fill("w".repeat(10_000));
    await expectGood();
  });
});
