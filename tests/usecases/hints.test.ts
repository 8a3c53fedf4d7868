// What is said about failures: what to do, the same wherever they are told.
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { SETTINGS } from "../../src/app/settings.ts";
import { describeFailure } from "../../src/cli/command-runner.ts";
import {
  type AppErrorKind,
  DAMAGE_HINT,
  ERROR_KINDS,
  REFUSALS,
} from "../../src/domain/shared/error-kinds.ts";
import { AppError } from "../../src/domain/shared/errors.ts";
import { withHint } from "../../src/domain/shared/text.ts";
import { failureReply } from "../../src/http/errors.ts";
import { Exchange } from "../../src/http/exchange.ts";
import { AlertOutbox } from "../../src/repositories/alert-outbox.ts";
import { examineDeployment } from "../../src/usecases/operations/examine-deployment.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { makeTwoEnds, runOf } from "./sync/two-ends.ts";

const KINDS = Object.keys(ERROR_KINDS) as AppErrorKind[];

/** Those whose messages say all there is, or whose hints are made where they are thrown. */
const WITHOUT_HINT: readonly AppErrorKind[] = [
  "status",
  "invalid_request",
  "not_found",
  "sync_key_rejected",
  "unknown_table",
  "integrity",
  "sync_failed",
  "file_failed",
  "forbidden",
  "conflict",
];

/** Names of settings, of what keeps rows, of files and addresses. */
const INTERNALS = new RegExp(
  String.raw`\b(${Object.values(SETTINGS)
    .map(({ name }) => name)
    .join("|")})\b|\b[A-Z]+_[A-Z_]+\b|docs/|\.env|--[a-z]|sqlite|mongo|store|registry`,
  "i",
);

/** What somebody is told who asks for this. */
async function reply(error: AppError, path: string) {
  const exchange = new Exchange(new Request(`http://localhost${path}`), {
    connection: { remoteAddress: "127.0.0.1", keepOpen() {} },
    browsers: { sessionCookie: "", corsOrigins: [], trustedProxyHops: 0 },
    ids: { next: () => "an-id-of-it" },
  });
  return (await failureReply(error, exchange, 0).json()) as { hint?: string; error?: string };
}

test("each kind says what to do, or is known to need no word", () => {
  expect(KINDS.filter((kind) => ERROR_KINDS[kind].hint === null)).toEqual([...WITHOUT_HINT]);
});

test("a hint is one sentence without its full stop", () => {
  for (const { hint } of [...Object.values(ERROR_KINDS), ...Object.values(REFUSALS)]) {
    if (hint !== null) expect(hint).toMatch(/^(?:[A-Z]|docs\/)[^;\n]*[^.;]$/);
  }
  expect(DAMAGE_HINT).toMatch(/^[A-Z].*[^.]$/);
});

test("what callers of the reputation interface are told names nothing of its operators", async () => {
  for (const kind of KINDS) {
    const particular = new AppError(kind, "It failed", { hint: "Check STORAGE_URL" });
    const isOperators = (await reply(particular, "/v1/me")).hint !== "Check STORAGE_URL";
    for (const error of isOperators ? [particular, new AppError(kind, "It failed")] : [])
      expect((await reply(error, "/v1/me")).hint ?? "").not.toMatch(INTERNALS);
    if (!isOperators) expect(ERROR_KINDS[kind].hint ?? "").not.toMatch(INTERNALS);
  }
});

test("the hints that use cases of people and the guards make are for them", async () => {
  const folders = [
    "usecases/reputation",
    "domain/reputation",
    "http/guards",
    "http/routes/account",
  ];
  const made: string[] = [];
  for (const folder of folders) {
    for await (const file of new Glob(`src/${folder}/**/*.ts`).scan(".")) {
      const text = await Bun.file(file).text();
      made.push(
        ...[...text.matchAll(/hint(?::| =)\s*["'`](.*?)["'`]/g)].map(([, hint = ""]) => hint),
      );
    }
  }
  expect(made.length).toBeGreaterThan(2);
  for (const hint of made) expect(hint).not.toMatch(INTERNALS);
});

test.each(["store_unavailable", "commit_failed", "conflict"] as const)(
  "D-4.12 %s is told with the same hint by doctor, the command line, a run and a problem",
  async (kind) => {
    const error = new AppError(
      kind,
      "It failed",
      kind === "conflict" ? { hint: "Look again" } : {},
    );
    const hint = error.hint ?? "";
    expect(hint).not.toBe("");
    expect((await reply(error, "/v1/me")).hint).toBe(hint);
    const text = withHint("It failed", hint);
    expect((await reply(error, "/api/v1/sync/status")).error).toBe(text);
    expect(describeFailure(error)).toMatchObject({ message: "It failed", hint });

    const ends = await makeTwoEnds();
    const storage = {
      ping: () => Promise.reject(error),
      isDamaged: async () => false,
    };
    const outbox = new AlertOutbox(ownDocuments(ends.time.clock()));
    const deps = {
      sync: ends.deps,
      storage,
      outbox,
      syncApiKey: "key",
      isFirstPepper: true,
      backups: null,
    };
    const findings = await Array.fromAsync(examineDeployment(deps));
    expect(findings[0]).toMatchObject({ status: "fail", message: "It failed", hint });

    ends.intercept = () => {
      throw error;
    };
    const { run, events } = await runOf(ends, { direction: "pull" });
    expect(run.error).toBe(text);
    expect(events).toContainEqual(expect.objectContaining({ type: "error", error: text }));
  },
);

test("what only operators can mend is told them alone", async () => {
  const hint = "Check that the file of the store can be read";
  const error = new AppError("store_unavailable", "It failed", { hint });
  expect((await reply(error, "/v1/me")).hint).toBe("Ask again in a moment");
  expect((await reply(error, "/api/v1/sync/status")).error).toBe(
    "It failed; ask again in a moment",
  );
  expect(describeFailure(error)).toMatchObject({ hint });
});

test("a problem and its hint are one sentence, in which names stay as they are", () => {
  expect(withHint("A", "Set B")).toBe("A; set B");
  expect(withHint("A", "A retry helps")).toBe("A; a retry helps");
  expect(withHint("A", "SYNC_TABLES is missing")).toBe("A; SYNC_TABLES is missing");
  expect(withHint("A", "`x` says why")).toBe("A; `x` says why");
  expect(withHint("A", null)).toBe("A");
});
