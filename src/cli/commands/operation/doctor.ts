import manifest from "../../../../package.json" with { type: "json" };
import { mistypedSettings } from "../../../app/config.ts";
import { isAppError } from "../../../domain/shared/errors.ts";
import { examineDeployment } from "../../../usecases/operations/examine-deployment.ts";
import type { Finding } from "../../../usecases/operations/examine-remote.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  EXIT,
  type ExitCode,
  type OpenedDeployment,
  readDeploymentConfig,
} from "../../command-runner.ts";
import type { Colour } from "../../output.ts";

const STATUS_COLOURS: Readonly<Record<Finding["status"], Colour>> = {
  ok: "green",
  warn: "yellow",
  fail: "red",
};

export const addCommands: AddCommands = (parent, run) => {
  declareCommand(parent, "doctor")
    .description(
      "Checks the configuration, the store, the tables and the remote deployment, and says what to do. " +
        "Warnings leave the exit code 0.",
    )
    .action(
      run(async (tools) => {
        const { code, findings } = await examine(tools);
        tools.output.printJson({ ok: code === EXIT.success, findings });
        return code;
      }),
    );
};

/** Checks the deployment of the environment; tells each finding at once. */
export async function examine(
  tools: CommandTools,
): Promise<{ readonly code: ExitCode; readonly findings: readonly Finding[] }> {
  const { output } = tools;
  const findings: Finding[] = [];
  const tell = (finding: Finding) => {
    findings.push(finding);
    const { status, check, message, hint } = finding;
    output.print([
      { colour: STATUS_COLOURS[status], text: status.padEnd(4) },
      `  ${check}: ${message}${hint === null ? "" : `${message.endsWith("?") ? "" : "."} ${hint}`}`,
    ]);
  };
  const conclude = (code: ExitCode) => ({ code, findings });
  const message = `repsync ${manifest.version} on bun ${process.versions["bun"]}, ${process.platform} ${process.arch}`;
  tell({ check: "version", status: "ok", message, hint: null });
  for (const [name, meant] of mistypedSettings(process.env)) {
    const hint = `Did you mean ${meant}?`;
    tell({ check: "settings", status: "warn", message: `${name} is no setting`, hint });
  }
  if (!(await checkConfig(tell))) return conclude(EXIT.usage);
  const deployment = await openTelling(tools, tell);
  if ("code" in deployment) return conclude(deployment.code);
  const { config, services } = deployment;
  const { storage, outbox, sync, scheduleTimes, isFirstPepper } = services;
  const { backUpDeps } = await import("../../../app/backups.ts");
  const { files } = backUpDeps(config, services);
  const backups = config.backups && { folder: config.backups.folder, files, scheduleTimes };
  const { syncApiKey } = config;
  const deps = { storage, outbox, sync, syncApiKey, isFirstPepper, backups };
  for await (const finding of examineDeployment(deps)) tell(finding);
  return conclude(findings.some(({ status }) => status === "fail") ? EXIT.failed : EXIT.success);
}

async function checkConfig(tell: (finding: Finding) => void): Promise<boolean> {
  const check = "configuration";
  try {
    await readDeploymentConfig();
    tell({ check, status: "ok", message: "every setting is valid", hint: null });
    return true;
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    const { hint, problems } = error;
    for (const { detail } of problems) tell({ check, status: "fail", message: detail, hint });
    return false;
  }
}

async function openTelling(
  { open }: CommandTools,
  tell: (finding: Finding) => void,
): Promise<OpenedDeployment | { readonly code: ExitCode }> {
  try {
    return await open();
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { kind, message, hint } = error;
    for (const line of message.split("\n")) {
      tell({ check: "store", status: "fail", message: line, hint });
    }
    return { code: kind === "schema_conflict" ? EXIT.usage : EXIT.failed };
  }
}
