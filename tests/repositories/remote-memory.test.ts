import { expect } from "bun:test";
import type { MemoryChange, RemoteIdentity } from "../../src/domain/sync/run/remote-memory.ts";
import type { SyncDirection } from "../../src/domain/sync/run/run.ts";
import type { DocumentStore } from "../../src/ports/documents.ts";
import { keepMemory, memoryQuery, RemoteMemory } from "../../src/repositories/remote-memory.ts";
import { repositoryTests } from "./support/repository-tests.ts";

const REMOTE: RemoteIdentity = { id: "id-1", address: "https://one.example" };
const OTHER: RemoteIdentity = { id: "id-2", address: "https://two.example" };
const DELETES = { cursor: "c-1", givenAt: "2026-03-01T12:00:00Z" };
const COLUMNS = { moved: ["k", "at"], leftOut: ["v"] };
/** The time of a read. */
const nowMs = expect.any(Number) as number;

/** What is remembered, and the commits that keep it. */
class MemoryUnderTest extends RemoteMemory {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    super(documents);
    this.#documents = documents;
  }

  /** Resolves to whether what was kept was another remote's. */
  async keep(
    table: string,
    direction: SyncDirection,
    change: MemoryChange,
    remote = REMOTE,
  ): Promise<boolean> {
    return await this.#documents.transact({ name: "test.keep" }, async (tx) => {
      const [found] = await tx.read(memoryQuery(table));
      return keepMemory(
        tx,
        { table, direction, remote, columns: COLUMNS, known: [] },
        found,
        change,
      );
    });
  }
}

repositoryTests(
  "memory of remotes",
  (documents) => new MemoryUnderTest(documents),
  (it) => {
    it("S-2.5 nothing is remembered at first", async (memory) => {
      expect(await memory.read("items", REMOTE)).toEqual({
        ...{ push: {}, pull: {}, isOther: false, nowMs },
      });
      expect([await memory.readAll(), await memory.drifts()]).toEqual([new Map(), new Map()]);
    });

    it("D-7.3.3 a commit fails once the other direction has left out a column that it moves", async (memory) => {
      await memory.keep("items", "push", { push: { marker: "1" } });
      await memory.keep("items", "pull", { pull: { columns: { moved: ["k"], leftOut: ["at"] } } });
      await expect(memory.keep("items", "push", { push: { marker: "2" } })).rejects.toMatchObject({
        ...{ kind: "sync_failed", hint: "Run again" },
        message: 'Another run has moved "items" meanwhile without "at"',
      });
      expect((await memory.read("items", REMOTE)).push).toEqual({ marker: "1" });
      expect(await memory.keep("items", "push", { push: { marker: "2" } }, OTHER)).toBe(true);
    });

    it("D-4.5 a commit changes the given fields of a direction and leaves the others", async (memory) => {
      await memory.keep("items", "push", { push: { marker: "1", ownClock: "o" } });
      await memory.keep("items", "pull", { pull: { marker: "2", columns: COLUMNS } });
      await memory.keep("items", "push", { push: { marker: "3", lateMark: "m" } });
      await memory.keep("others", "pull", { pull: { deletes: DELETES } });
      expect(await memory.readAll()).toEqual(
        new Map([
          [
            "items",
            {
              push: { marker: "3", ownClock: "o", lateMark: "m" },
              pull: { marker: "2", columns: COLUMNS },
            },
          ],
          ["others", { push: {}, pull: { deletes: DELETES } }],
        ]),
      );
    });

    it("D-4.5 a marker keeps the text as it was given", async (memory, other) => {
      const marker = " 2024-01-01 00:00:00.000000+00:00 \u0001é😀$'\" \0";
      await memory.keep("items", "pull", { pull: { marker } });
      expect((await other.read("items")).pull).toEqual({ marker });
    });

    it("D-7.3 a commit of one direction changes what the other remembers", async (memory) => {
      await memory.keep("items", "push", { push: { marker: "1", columns: COLUMNS } });
      await memory.keep("items", "pull", { push: { columns: { moved: [], leftOut: [] } } });
      const { push, pull } = await memory.read("items", REMOTE);
      expect([push, pull]).toEqual([{ marker: "1", columns: { moved: [], leftOut: [] } }, {}]);
    });

    it("S-4.4.2 what is cleared begins at the first row, with its places of deletes and columns", async (memory) => {
      const all = { lateMark: "m", remoteClock: "r", added: 5, columns: COLUMNS, deletes: DELETES };
      await memory.keep("items", "push", { push: { marker: "1", ownClock: "o", ...all } });
      await memory.keep("items", "pull", { pull: { marker: "2", ...all } });
      await memory.keep("others", "pull", { pull: { marker: "3" } });
      await memory.clear(["items", "new"]);
      const left = { marker: "", columns: COLUMNS, deletes: DELETES };
      expect(await memory.read("items", REMOTE)).toEqual({
        push: left,
        pull: left,
        isOther: false,
        nowMs,
      });
      expect((await memory.read("others", REMOTE)).pull).toEqual({ marker: "3" });
      expect(await memory.read("new")).toEqual({
        push: { marker: "" },
        pull: { marker: "" },
        isOther: false,
        nowMs,
      });
      await memory.keep("items", "push", { push: { marker: "4" } });
      expect((await memory.read("items", REMOTE)).push.marker).toBe("4");
    });

    it("D-7.6 one direction is cleared, and the other stays", async (memory) => {
      await memory.keep("items", "push", { push: { marker: "1" } });
      await memory.keep("items", "pull", { pull: { marker: "2", lateMark: "m" } });
      await memory.clear(["items"], ["pull"]);
      const { push, pull } = await memory.read("items", REMOTE);
      expect([push, pull]).toEqual([{ marker: "1" }, { marker: "" }]);
    });

    it("D-11.10.1 what is another remote's is not taken for this one's, and goes with its first commit", async (memory) => {
      await memory.keep("items", "push", { push: { marker: "1" } });
      await memory.keep("items", "pull", { pull: { marker: "2" } });
      await memory.keepDrifts(
        new Map([
          ["items", 3],
          ["others", -1],
        ]),
      );
      expect(await memory.read("items", OTHER)).toEqual({
        ...{ push: {}, pull: {}, isOther: true, nowMs },
      });
      expect((await memory.read("items")).push).toEqual({ marker: "1" });
      expect(await memory.keep("items", "pull", { pull: { lateMark: "m" } }, OTHER)).toBe(true);
      expect(await memory.read("items", OTHER)).toEqual({
        push: {},
        pull: { lateMark: "m" },
        isOther: false,
        nowMs,
      });
      expect(await memory.drifts()).toEqual(new Map([["others", -1]]));
      expect(await memory.keep("items", "push", { push: { marker: "5" } }, OTHER)).toBe(false);
      expect((await memory.read("items", REMOTE)).isOther).toBe(true);
    });

    it("D-11.10.1 a remote of which the address was kept, and that tells an id now, is the same one", async (memory) => {
      const nameless = { ...REMOTE, id: null };
      await memory.keep("items", "push", { push: { marker: "1" } }, nameless);
      expect(await memory.keep("items", "push", { push: { marker: "2" } }, REMOTE)).toBe(false);
      expect((await memory.read("items", nameless)).isOther).toBe(true);
      expect((await memory.read("items", { ...REMOTE, address: "moved" })).push).toEqual({
        marker: "2",
      });
    });

    it.everywhere(
      "D-4.8 commits of both directions by two instances at once are all kept",
      async (memory, other) => {
        const tables = Array.from({ length: 10 }, (_, n) => `t${n}`);
        await Promise.all(
          tables.flatMap((table) => [
            memory.keep(table, "push", { push: { marker: `${table} push` } }),
            other.keep(table, "pull", { pull: { marker: `${table} pull` } }),
          ]),
        );
        const kept = await memory.readAll();
        expect(kept).toEqual(
          new Map(
            tables.map((table) => [
              table,
              { push: { marker: `${table} push` }, pull: { marker: `${table} pull` } },
            ]),
          ),
        );
      },
    );

    it("D-7.5 the drift of a table is the one kept last", async (memory, other) => {
      await memory.keepDrifts(
        new Map([
          ["items", 3],
          ["others", 0],
        ]),
      );
      await other.keepDrifts(new Map([["items", -2]]));
      expect(await memory.drifts()).toEqual(
        new Map([
          ["items", -2],
          ["others", 0],
        ]),
      );
    });
  },
);
