// What shells complete with the scripts that the program prints. Each script is asked by its own shell.
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUN, CLI, serviceEnv } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { releaseResources } from "../http/support/resources.ts";
import { runCli } from "./support/run-cli.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** Without a shell its tests are skipped, but not in continuous integration: there they fail. */
const isHere = (shell: Shell) => Bun.which(shell) !== null || process.env["CI"] === "true";

/** Asks what may follow each line that is typed; the script is `$1`. Answers are lines, with `==` before each. */
const ASK: Readonly<Record<Shell, string>> = {
  bash: `source "$1"; shift
    for line; do
      read -ra COMP_WORDS <<<"$line"
      [[ $line == *" " ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _repsync
      echo "=="; printf '%s\\n' "\${COMPREPLY[@]}"
    done`,
  // A real terminal: what zsh would offer is taken where it is added.
  zsh: `zmodload zsh/zpty; script=$1; shift
    zpty z zsh -f -i
    zpty -w z "PROMPT=; autoload -Uz compinit; compinit -u -D; source $script"
    zpty -w z 'compadd() { local -a hits; builtin compadd -A hits "$@"; (( $#hits )) && print -rl -- "<<"\${^hits}">>"; }'
    zpty -w z 'ends() { print -r -- "<""END>" }; zle -N ends; bindkey "^T" ends; print "<""READY>"'
    zpty -r z shown '*<READY>*'
    for line; do
      zpty -w -n z $'\\x15'"$line"$'\\t'$'\\x14'
      zpty -r z shown '*<END>*'
      echo "=="; print -r -- "$shown" | grep -o '<<.*>>' | sed 's/^<<//; s/>>$//'
    done
    zpty -d z`,
  fish: `source $argv[1]
    for line in $argv[2..-1]
      echo "=="; complete -C "$line" | string split -f 1 \\t
    end
    true`,
};

/** Candidates in the order of the alphabet, each once. */
async function complete(shell: Shell, lines: readonly string[]): Promise<string[][]> {
  const folder = makeTempFolder();
  const env = serviceEnv(folder, {
    goods: { upsert_key: ["sku"], columns: { sku: { type: "text" } } },
  });
  const { PATH = "", HOME = "" } = process.env;
  writeFileSync(join(folder, "repsync"), `#!/bin/sh\nexec ${[...BUN, CLI].join(" ")} "$@"\n`);
  chmodSync(join(folder, "repsync"), 0o755);
  const script = join(folder, "script");
  writeFileSync(script, (await runCli(["completion", shell])).stdout);
  const command = shell === "fish" ? [shell, "-c", ASK.fish] : [shell, "-c", ASK[shell], shell];
  const work = join(folder, "work");
  await Bun.write(join(work, "rows.csv"), "");
  const child = Bun.spawn([...command, script, ...lines], {
    ...{ cwd: work, stdout: "pipe", stderr: "pipe" },
    env: {
      ...env,
      PATH: `${folder}:${PATH}`,
      HOME: shell === "fish" ? folder : HOME,
      TERM: "dumb",
    },
  });
  const [answer, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect([problems, await child.exited]).toEqual(["", 0]);
  const words = (part: string) => part.split(/\s+/).filter((word) => word !== "");
  return answer
    .split("==")
    .slice(1)
    .map((part) => [...new Set(words(part))].sort());
}

describe("repsync completion", () => {
  for (const shell of SHELLS) {
    test.skipIf(!isHere(shell))(
      `D-10.13.2 ${shell} completes commands, options, values, tables and files`,
      async () => {
        const answers = await complete(shell, [
          "repsync ke",
          "repsync keys ",
          "repsync keys create --",
          "repsync sync ",
          "repsync sync push ",
          "repsync --env-file some plan set ana ",
          "repsync import --format ",
          "repsync import goods ro",
          "repsync delete goods some ",
          "repsync completion ",
        ]);
        expect(answers).toEqual([
          ["keys"],
          ["create", "list", "revoke", "rotate"],
          ["--expires", "--help", "--json", "--name"],
          ["both", "pull", "push"],
          ["goods", "platform_accounts", "profiles"],
          ["business", "developer", "enterprise", "free"],
          ["csv", "json", "ndjson"],
          ["rows.csv"],
          [],
          ["bash", "fish", "zsh"],
        ]);
      },
    );
  }

  let scripts: readonly string[] = [];
  beforeAll(async () => {
    const printed = await Promise.all(SHELLS.map((shell) => runCli(["completion", shell])));
    scripts = printed.map(({ code, stdout }) => {
      expect(code).toBe(0);
      return stdout;
    });
  });

  test("D-10.13.2 scripts are made from the program: each command is in each of them", () => {
    for (const script of scripts) {
      for (const words of [
        "'repsync audit verify --'",
        "'repsync rejected drop --'",
        "--max-deletes",
      ]) {
        expect(script).toContain(words);
      }
      expect(script).not.toMatch(/\\u001b|undefined|\[object/);
    }
  });

  test("D-10.13.2 another shell, or none, is a wrong command line, exit code 2", async () => {
    const ended = await runCli(["completion", "tcsh"]);
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain("Allowed choices are bash, zsh, fish");
    expect((await runCli(["completion"])).code).toBe(2);
  });

  test("D-10.13.2 scripts are printed whatever the settings are, and tables are none where these are wrong", async () => {
    const folder = makeTempFolder();
    await Bun.write(join(folder, ".env"), "this is no setting\n");
    expect((await runCli(["completion", "bash"], { folder })).code).toBe(0);
    const tables = await runCli(["completion-tables"], { folder });
    expect([tables.code, tables.stdout]).toEqual([2, ""]);
  });
});
