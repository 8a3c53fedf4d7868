// Runs the examples of a document as they stand there, as somebody who reads it would.
import { expect } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../.ci/setup.mjs";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { keepResource } from "../../support/resources.ts";
import { BUN, CLI } from "./service-process.ts";
import { Shell } from "./shell.ts";

/** Commands, and what the document shows of them. */
export interface Example {
  readonly commands: string;
  readonly shown: { readonly language: string; readonly text: string } | null;
}

/** Only what never comes takes so long. */
const DEADLINE_MS = 45_000;
/** What the document's reader has to wait for begins so: the commands are run until they show it. */
const LATER = /^# some seconds later\n/;
const SERVE = /^(?:\w+=\S+ )?repsync serve$/m;
const SHOWN_LANGUAGES = ["json", "text", "csv"];

/** The blocks of code of a document. */
export function blocksOf(path: string) {
  const document = readFileSync(join(ROOT, path), "utf8");
  return [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", text = ""]) => ({ language, text }),
  );
}

/** The examples of a document, in order. A block that shows something belongs to the commands before it. */
export function examplesOf(path: string): readonly Example[] {
  const blocks = blocksOf(path);
  return blocks.flatMap(({ language, text }, place) => {
    if (language !== "sh") return [];
    const next = blocks[place + 1];
    const isShown = next !== undefined && SHOWN_LANGUAGES.includes(next.language);
    return [{ commands: text, shown: isShown ? next : null }];
  });
}

/**
 * A reader of a document, with `repsync` on the path and a folder of its own. `repsync serve` goes on beside it, as in a
 * terminal of its own; the first one is the document's port 3000, the next one 3001, on whatever ports are free.
 */
export class Reader {
  readonly #shell: Shell;
  readonly #folder = makeTempFolder();
  /** The real ports, by the order of the starts. */
  readonly #ports: string[] = [];

  readonly #instead: Readonly<Record<string, string>>;

  /** `instead`: texts of the document, and what stands for them here. */
  constructor(instead: Readonly<Record<string, string>> = {}) {
    this.#instead = instead;
    const bin = join(makeTempFolder(), "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "repsync"), this.#program(bin));
    chmodSync(join(bin, "repsync"), 0o755);
    const { PATH = "", HOME = "" } = process.env;
    const own = { PATH: `${bin}:${PATH}`, HOME, LOG_LEVEL: "warn", PORT: "0" };
    this.#shell = new Shell(this.#folder, own);
    keepResource(() => stopAll(join(bin, "pids")));
  }

  /** Follows an example. Rejects when a command fails, or shows something else than the document. */
  async follow({ commands, shown }: Example): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const printed = await this.#run(commands);
      if (shown === null) return;
      const expected = essenceOf(shown.text, shown.language);
      const found = essenceOf(printed, shown.language);
      const mayCome = LATER.test(commands) && Date.now() < deadline;
      if (mayCome && !Bun.deepEquals(found, expected)) continue;
      expect(found).toEqual(expected);
      return;
    }
  }

  async #run(commands: string): Promise<string> {
    let given = commands;
    for (const [text, other] of Object.entries(this.#instead))
      given = given.replaceAll(text, other);
    const text = given
      .replaceAll(/\bPORT=300\d\b/g, "PORT=0")
      .replaceAll(/(127\.0\.0\.1:)300(\d)\b/g, (_, host: string, nth: string) => {
        const port = this.#ports[Number(nth)];
        if (port === undefined) throw new Error(`Nothing serves port 300${nth} yet`);
        return host + port;
      });
    const printed = await this.#shell.run(
      `failed=; trap 'failed="$failed; $BASH_COMMAND"' ERR\n${text}\n` +
        `trap - ERR; [ -z "$failed" ] || printf '%s' "-- failed$failed"`,
    );
    if (printed.includes("-- failed")) throw new Error(`${commands}\n${printed}`);
    if (SERVE.test(commands)) {
      const [, port] = /listening on http:\/\/[\d.]+:(\d+)/.exec(printed) ?? [];
      if (port === undefined) throw new Error(`It does not listen: ${printed}`);
      this.#ports.push(port);
    }
    return this.#ports.reduce((said, port, i) => said.replaceAll(`:${port}`, `:300${i}`), printed);
  }

  /** `serve` ends as soon as it listens, and leaves the service behind. */
  #program(bin: string): string {
    const program = [...BUN, CLI].map((part) => `'${part}'`).join(" ");
    return `#!/usr/bin/env bash
[ "$1" = serve ] || exec ${program} "$@"
log=$(mktemp '${bin}/serve-XXXXXX')
${program.replace(" '--no-orphans'", "")} "$@" >"$log" 2>&1 </dev/null &
echo $! >>'${bin}/pids'
until grep -q '^repsync is listening' "$log"; do kill -0 $! 2>/dev/null || { cat "$log"; exit 1; }; sleep 0.05; done
cat "$log"
`;
  }
}

async function stopAll(pids: string): Promise<void> {
  const text = await Bun.file(pids)
    .text()
    .catch(() => "");
  for (const pid of text.split("\n").filter(Boolean).map(Number)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

/** Fields that differ from run to run. That they are there, and not null, stays to be compared. */
const CHANGING: ReadonlySet<string> = new Set([
  ...["timestamp", "granted_at", "created_at", "at", "id", "request_id", "last4", "key"],
  ...["score", "star_level", "updated_at"],
]);

/** A text without what changes; JSON however it is laid out. A score is not 0. */
function essenceOf(text: string, language: string): unknown {
  if (language !== "json") return text.trim();
  try {
    return JSON.parse(text, (name, value: unknown) => {
      if (!CHANGING.has(name) || value === null) return value;
      return typeof value === "number" ? value > 0 : typeof value;
    });
  } catch {
    return text;
  }
}
