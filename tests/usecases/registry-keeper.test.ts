// Looks at served tables, and what is told of them. D-14.6.
import { beforeEach, expect, test } from "bun:test";
import { SystemIds, SystemTimer } from "../../src/adapters/system/system.ts";
import { AppError } from "../../src/domain/shared/errors.ts";
import { findTable } from "../../src/domain/sync/table/table.ts";
import { LiveRegistry, RegistryKeeper } from "../../src/usecases/operations/registry-keeper.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { makeTable } from "../support/rows/make-table.ts";

const TABLES = ["a", "b", "c"].map((name) => ({
  ...makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }),
  name,
}));

let disturbed: ReadonlySet<string> | "unknown";
let refusals: Readonly<Record<string, AppError>>;
let fileProblems: readonly string[];
let prepared: string[];
let logger: MemoryLogger;
let registry: LiveRegistry;
let keeper: RegistryKeeper;

beforeEach(() => {
  [disturbed, refusals, fileProblems, prepared] = [new Set(), {}, [], []];
  logger = new MemoryLogger();
  registry = new LiveRegistry(TABLES.map((table) => [table.name, table]));
  const file = new Map(registry);
  keeper = new RegistryKeeper({
    registry,
    logger,
    source: {
      read: async () => ({
        text: fileProblems.join(),
        registry: fileProblems.length === 0 ? file : null,
        problems: fileProblems,
      }),
      add: () => Promise.reject(new Error("not used")),
      textToAdd: () => "",
    },
    storage: {
      tables: {
        disturbed: async (tables) => {
          const found = disturbed;
          if (found === "unknown") throw new AppError("store_unavailable", "down");
          return tables.filter(({ name }) => found.has(name));
        },
      },
    },
    async prepareTables(tables) {
      for (const { name } of tables) if (refusals[name] !== undefined) throw refusals[name];
      prepared.push(...tables.map(({ name }) => name));
    },
    ids: new SystemIds(),
    leases: {
      acquire: async () => ({ renew: async () => true, release: async () => {} }) as never,
    },
    clock: { monotonicMs: () => 0 },
    timer: new SystemTimer(),
  });
});

function refused(text: string): AppError {
  return new AppError("schema_conflict", text);
}

/** Why a table is not used; null where it is. */
function reason(name: string): string | null {
  try {
    findTable(registry, name);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function logged(level: string): string[] {
  return logger.lines.filter((line) => line.level === level).map(({ message }) => message);
}

test("D-14.6 a table that cannot be prepared keeps no other from it, and each has its own reason", async () => {
  disturbed = new Set(["a", "b", "c"]);
  refusals = { a: refused("a is wrong"), c: refused("c is wrong") };
  await keeper.look();
  expect(prepared).toEqual(["b"]);
  expect(["a", "b", "c"].map(reason)).toEqual(["a is wrong", null, "c is wrong"]);
  expect(keeper.problem).toStartWith("a is wrong\nc is wrong; docs/operating.md");
  disturbed = "unknown";
  await keeper.look();
  expect(["a", "b", "c"].map(reason)).toEqual(["a is wrong", null, "c is wrong"]);
  expect(keeper.problem).toStartWith("a is wrong\nc is wrong; docs/operating.md");
  disturbed = new Set(["c"]);
  await keeper.look();
  expect(["a", "b", "c"].map(reason)).toEqual([null, null, "c is wrong"]);
  refusals = {};
  await keeper.look();
  expect([["a", "b", "c"].map(reason), keeper.problem]).toEqual([[null, null, null], null]);
  disturbed = new Set(["a", "b", "c"]);
  refusals = { b: new AppError("store_unavailable", "down"), c: refused("c is wrong") };
  await keeper.look();
  expect([prepared.at(-1), reason("b"), reason("c")]).toEqual(["a", null, "c is wrong"]);
  expect(keeper.problem).toStartWith("down; ask again in a moment\nc is wrong; docs/operating.md");
});

test("D-14.6 each problem is told once, of served tables beside one of the file too", async () => {
  const look = async () => {
    for (let i = 0; i < 3; i++) await keeper.look();
    return logged("error").length;
  };
  expect(await look()).toBe(0);
  disturbed = new Set(["a"]);
  refusals = { a: refused("a is wrong") };
  expect(await look()).toBe(1);
  fileProblems = ["no JSON"];
  expect(await look()).toBe(2);
  expect(keeper.problem).toStartWith("no JSON\na is wrong; docs/operating.md");
  fileProblems = [];
  expect(await look()).toBe(3);
  disturbed = new Set(["a", "b"]);
  refusals = { a: refused("a is wrong"), b: refused("b is wrong") };
  expect(await look()).toBe(4);
  disturbed = new Set();
  expect([await look(), keeper.problem]).toEqual([4, null]);
});
