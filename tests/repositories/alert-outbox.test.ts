import { expect } from "bun:test";
import type { QueuedAlert } from "../../src/domain/alerts/alert.ts";
import { AlertOutbox, queueAlerts } from "../../src/repositories/alert-outbox.ts";
import { repositoryTests } from "./support/repository-tests.ts";

const NOON = Date.UTC(2026, 2, 1, 12);
const QUARTER_HOUR = 900_000;

repositoryTests(
  "alerts",
  (documents) => new AlertOutbox(documents),
  (it) => {
    it("D-10.12 alerts are due at once, those that have waited longest first", async (alerts) => {
      expect(await alerts.due(NOON, 10)).toEqual([]);
      const [first, second, third] = [alert("a", NOON), alert("b", NOON + 1), alert("c", NOON + 2)];
      await alerts.add([second, third]);
      await alerts.add([first]);
      expect(await alerts.count()).toBe(3);
      expect(await alerts.due(NOON - 1, 10)).toEqual([]);
      expect(await alerts.due(NOON + 1, 10)).toEqual([waiting(first), waiting(second)]);
      expect(await alerts.due(NOON + 9, 2)).toEqual([waiting(first), waiting(second)]);
    });

    it.everywhere(
      "D-10.12 alerts of a commit of documents wait with it, and not without it",
      async (alerts, _, { documents }) => {
        const queue = (fails: boolean) =>
          documents.transact({ name: "test.alerts" }, async (tx) => {
            queueAlerts(tx, [alert(fails ? "a" : "b", NOON)]);
            if (fails) throw new Error("on purpose");
          });
        expect(await queue(true).catch(({ message }) => message)).toBe("on purpose");
        expect(await alerts.count()).toBe(0);
        await queue(false);
        expect(await alerts.due(NOON, 10)).toEqual([waiting(alert("b", NOON))]);
      },
    );

    it("D-11.7 those about no account are due first", async (alerts) => {
      const [a, b, c] = [alert("a", NOON), alert("b", NOON + 1), alert("c", NOON + 2)];
      const damage = { ...c, type: "backup.failed", account: null } as const;
      await alerts.add([a, b, damage]);
      const ids = async (limit: number) => (await alerts.due(NOON + 9, limit)).map(({ id }) => id);
      expect([await ids(10), await ids(2), await ids(1)]).toEqual([
        ["c", "a", "b"],
        ["c", "a"],
        ["c"],
      ]);
    });

    it("D-11.7 gather() makes one of those about an account and of a type that were not tried", async (alerts) => {
      const about = { account: "ana", type: "key.revoked" } as const;
      await alerts.gather(about, NOON);
      const others = [
        { ...alert("of bea", NOON), account: "bea" },
        { ...alert("rotated", NOON), type: "key.rotated" } as const,
      ];
      await alerts.add([alert("tried", NOON), ...others]);
      await alerts.postpone("tried", { attempts: 1, dueAtMs: NOON });
      await alerts.add([alert("a", NOON), alert("b", NOON + 1), alert("c", NOON + 2)]);
      await alerts.gather(about, NOON + 100);
      const left = async () => (await alerts.due(NOON + 99, 10)).map(({ id }) => id).sort();
      expect(await left()).toEqual(["of bea", "rotated", "tried"]);
      await alerts.add([alert("d", NOON + 5)]);
      await alerts.gather(about, NOON + 200);
      expect([await left(), await alerts.count()]).toEqual([["of bea", "rotated", "tried"], 4]);
      const gathered = (await alerts.due(NOON + 200, 10)).find(({ id }) => id === "d");
      expect(gathered).toEqual({
        ...waiting(alert("d", NOON + 5)),
        body: `{"id":"d","type":"key.revoked","name":"Straße \\u0000 'x'","count":4}`,
      });
    });

    it("D-10.12 what is postponed comes later, and goes when it is removed", async (alerts) => {
      const [a, b] = [alert("a", NOON), alert("b", NOON + 1)];
      await alerts.add([a, b]);
      await alerts.postpone("a", { attempts: 3, dueAtMs: NOON + 500 });
      await alerts.postpone("absent", { attempts: 1, dueAtMs: NOON });
      expect(await alerts.due(NOON + 499, 10)).toEqual([waiting(b)]);
      expect(await alerts.due(NOON + 500, 10)).toEqual([waiting(b), { ...a, attempts: 3 }]);
      await alerts.remove("b");
      await alerts.remove("b");
      expect(await alerts.due(NOON + 500, 10)).toEqual([{ ...a, attempts: 3 }]);
      expect(await alerts.count()).toBe(1);
    });

    it("D-10.12 an alert is kept once, as it was first added", async (alerts) => {
      const first = alert("a", NOON);
      await alerts.add([first]);
      await alerts.postpone("a", { attempts: 1, dueAtMs: NOON + 10 });
      await alerts.add([{ ...first, body: "other" }, alert("b", NOON)]);
      const found = await alerts.due(NOON + 10, 10);
      expect(found).toEqual([waiting(alert("b", NOON)), { ...first, attempts: 1 }]);
    });

    it("D-10.12 a clock that was set back delays no alert for longer than the greatest wait", async (alerts) => {
      const far = alert("a", NOON + QUARTER_HOUR + 1);
      await alerts.add([far]);
      expect(await alerts.due(NOON + 1, 10)).toEqual([]);
      expect(await alerts.due(NOON, 10)).toEqual([waiting(far)]);
    });

    it.everywhere("D-10.12 every instance sees the same alerts", async (alerts, other) => {
      await alerts.add([alert("a", NOON)]);
      expect(await other.due(NOON, 10)).toEqual([waiting(alert("a", NOON))]);
      await other.remove("a");
      expect(await alerts.count()).toBe(0);
    });
  },
);

function alert(id: string, atMs: number): QueuedAlert {
  const body = JSON.stringify({ id, type: "key.revoked", name: "Straße \u0000 'x'" });
  return { id, type: "key.revoked", atMs, account: "ana", body };
}

function waiting(queued: QueuedAlert) {
  return { ...queued, attempts: 0 };
}
