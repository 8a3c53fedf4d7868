import { Argument, type Command } from "commander";
import type { AddCommand, CommandTools } from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { commandTree } from "../../help/command-tree.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export const addCompletionCommand: AddCommand = (parent, run) => {
  parent
    .command("completion")
    .description(
      "Prints a script with which a shell completes commands, options, tables and files of repsync at Tab.",
    )
    .addArgument(new Argument("<shell>", "the shell that is to complete").choices(SHELLS))
    .action((shell: Shell) => run({}, (tools) => printScript(tools, parent, shell)));
};

async function printScript(
  { output }: CommandTools,
  program: Command,
  shell: Shell,
): Promise<ExitCode> {
  const tree = commandTree(program);
  output.print((await loadScript(shell))(tree).trimEnd());
  return EXIT.success;
}

async function loadScript(shell: Shell) {
  switch (shell) {
    case "bash":
      return (await import("../../completion/bash-script.ts")).bashScript;
    case "zsh":
      return (await import("../../completion/zsh-script.ts")).zshScript;
    case "fish":
      return (await import("../../completion/fish-script.ts")).fishScript;
  }
}
