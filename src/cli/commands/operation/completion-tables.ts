import { type AddCommand, readDeploymentConfig } from "../../command-runner.ts";
import { EXIT } from "../../failure.ts";

/** What the completion scripts ask for tables. It says nothing where there is no good configuration. */
export const addCompletionTablesCommand: AddCommand = (parent, run) => {
  parent
    .command("completion-tables", { hidden: true })
    .description("Lists the tables of the registry.")
    .action(() =>
      run({}, async ({ output }) => {
        output.print(...(await readDeploymentConfig()).registry.keys());
        return EXIT.success;
      }),
    );
};
