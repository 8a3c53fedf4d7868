import { type AddCommands, declareCommand } from "../../command-runner.ts";

export const addCommands: AddCommands = (parent, run) => {
  declareCommand(parent, "demo")
    .description(
      "Starts three deployments on this machine, moves 171,075 real rows between them, compares them row by row, and " +
        "makes a reputation lookup. Everything is in a temporary folder that is removed at the end.",
    )
    .option("--once", "end by itself")
    .action(
      run(async (tools, { once = false }: { readonly once?: boolean }) => {
        // Loaded here only, as it needs packages that a deployment does not.
        const { runDemo } = await import("../../demo/demo.ts");
        return await runDemo(tools, once);
      }),
    );
};
