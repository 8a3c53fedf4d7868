// Rejected records, tried again by the command line.
import { describe, expect, test } from "bun:test";
import { fill, namesOf, SHORT_NOTES, startPair } from "./support/running-pair.ts";

describe("repsync rejected", () => {
  test("D-14.9.1 the beginning of an id that two records have names both, exit code 1, and drops none", async () => {
    const { local, cli } = await startPair({ remote: SHORT_NOTES });
    await fill(local, ["a", "b"], "long");
    expect((await cli("sync push notes")).code).toBe(3);
    const ids: string[] = (await cli("rejected list --json")).json.items.map(
      ({ id }: { readonly id: string }) => id,
    );
    const [second = "", first = ""] = ids;
    for (const command of ["drop", "retry"]) {
      expect(await cli(`rejected ${command} ${first.slice(0, 8)}`)).toMatchObject({
        ...{ code: 1, stdout: "" },
        stderr: `Several ids begin with "00000000": ${second}, ${first}\n`,
      });
    }
    expect((await cli(`rejected drop ${first} --json`)).code).toBe(0);
    expect((await cli("rejected drop 00000000")).stdout).toBe(`Dropped ${second}\n`);
    expect((await cli("rejected list")).stdout).toBe("No record waits\n");
  });

  test("D-14.9.1 of many ids that begin alike ten are named", async () => {
    const { local, cli } = await startPair({ remote: SHORT_NOTES });
    await fill(local, [..."abcdefghijkl"], "long");
    expect((await cli("sync push notes")).code).toBe(3);
    const { items } = (await cli("rejected list --json")).json;
    const ids = items.map(({ id }: { readonly id: string }) => id);
    expect((await cli("rejected drop 00000000")).stderr).toBe(
      `Several ids begin with "00000000": ${ids.slice(0, 10).join(", ")} and 2 more\n`,
    );
  });
});

describe("repsync rejected retry", () => {
  test("D-9.5.4 a record that the remote rejected is sent again as it is now, exit code 3 while it is rejected", async () => {
    const { local, remote, cli } = await startPair({ remote: SHORT_NOTES });
    await fill(local, ["b"], "long");
    expect((await cli("sync push notes")).code).toBe(3);
    const [{ id, message }] = (await cli("rejected list --json")).json.items;
    const again = await cli(`rejected retry ${id}`);
    expect(again).toMatchObject({
      ...{ code: 3, stdout: "" },
      stderr: `push notes {"name":"b"}: rejected again: ${message}\n`,
    });
    const told = await cli(`rejected retry ${id} --json`);
    expect([told.code, told.json]).toMatchObject([
      3,
      { status: "rejected", item: { id, attempts: 3 } },
    ]);

    await fill(local, ["b"], "ok");
    expect(await cli(`rejected retry ${id}`)).toMatchObject({
      ...{ code: 0, stderr: "" },
      stdout: 'push notes {"name":"b"}: written there\n',
    });
    expect(await namesOf(remote)).toEqual(["b"]);
    expect((await cli("rejected list")).stdout).toBe("No record waits\n");
    expect(await cli(`rejected retry ${id}`)).toMatchObject({
      ...{ code: 1, stdout: "" },
      stderr: "No rejected record has this id\n",
    });
  });

  test("D-11.10.3 a record that is older than the row here is dropped, exit code 0", async () => {
    const { local, remote, cli } = await startPair({ local: SHORT_NOTES });
    await fill(remote, ["b"], "long");
    expect((await cli("sync pull notes")).code).toBe(3);
    const [{ id }] = (await cli("rejected list --json")).json.items;
    const newer = { name: "b", body: "ok", at: "2024-01-02T00:00:00Z" };
    expect((await local.push("notes", { records: [newer] })).status).toBe(200);
    expect(await cli(`rejected retry ${id}`)).toMatchObject({
      ...{ code: 0, stderr: "" },
      stdout: 'pull notes {"name":"b"}: dropped, as the row here stays\n',
    });
    expect((await cli("rejected list")).stdout).toBe("No record waits\n");
  });
});
