import type { AddCommands } from "../../command-runner.ts";

export const addCommands: AddCommands = (parent) => {
  parent
    .command("serve")
    .description(
      "Serves both interfaces and the console until SIGTERM or Ctrl-C, as the settings of the environment and .env say.",
    )
    .action(async () => {
      // The command line ends with its standard output, the service goes on.
      process.stdout.removeAllListeners("error").on("error", () => {});
      await import("../../../app/main.ts");
    });
};
