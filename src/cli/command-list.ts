// Every command by its name, in the order of the help. Its code is loaded when somebody calls it, as most of what commands
// need takes longer to load than to show the help.
import type { AddCommand } from "./command-runner.ts";

/** A command of its own, or a group of commands. */
export interface ListedCommand {
  readonly name: string;
  /** Its line in the list of commands. */
  readonly summary: string;
  load(): Promise<AddCommand>;
}

export const COMMAND_LIST: readonly ListedCommand[] = [
  {
    name: "init",
    summary: "make the files of a new deployment",
    load: async () => (await import("./commands/operation/init.ts")).addInitCommand,
  },
  {
    name: "tables",
    summary: "check the registry of tables, or guess one",
    load: async () => (await import("./commands/operation/tables.ts")).addTablesCommand,
  },
  {
    name: "serve",
    summary: "run the service",
    load: async () => (await import("./commands/operation/serve.ts")).addServeCommand,
  },
  {
    name: "sync",
    summary: "push or pull rows, or both",
    load: async () => (await import("./commands/sync/sync.ts")).addSyncCommand,
  },
  {
    name: "status",
    summary: "show tables, rows and markers here and there",
    load: async () => (await import("./commands/sync/status.ts")).addStatusCommand,
  },
  {
    name: "compare",
    summary: "compare tables with the remote's, and repair them",
    load: async () => (await import("./commands/sync/compare.ts")).addCompareCommand,
  },
  {
    name: "runs",
    summary: "list the last runs and comparisons",
    load: async () => (await import("./commands/sync/runs.ts")).addRunsCommand,
  },
  {
    name: "rejected",
    summary: "list, retry or drop rejected records",
    load: async () => (await import("./commands/sync/rejected.ts")).addRejectedCommand,
  },
  {
    name: "delete",
    summary: "delete a row",
    load: async () => (await import("./commands/sync/delete.ts")).addDeleteCommand,
  },
  {
    name: "deletes",
    summary: "take deletes back",
    load: async () => (await import("./commands/sync/delete.ts")).addDeletesCommand,
  },
  {
    name: "import",
    summary: "write the records of a file into a table",
    load: async () => (await import("./commands/sync/import.ts")).addImportCommand,
  },
  {
    name: "export",
    summary: "write the rows of a table into a file",
    load: async () => (await import("./commands/sync/export.ts")).addExportCommand,
  },
  {
    name: "admin",
    summary: "make an administrator, set passwords",
    load: async () => (await import("./commands/reputation/admin.ts")).addAdminCommand,
  },
  {
    name: "accounts",
    summary: "administer accounts and their names",
    load: async () => (await import("./commands/reputation/accounts.ts")).addAccountsCommand,
  },
  {
    name: "keys",
    summary: "issue, list, rotate or revoke API keys",
    load: async () => (await import("./commands/reputation/keys.ts")).addKeysCommand,
  },
  {
    name: "plan",
    summary: "show or change the plan of an account",
    load: async () => (await import("./commands/reputation/plan.ts")).addPlanCommand,
  },
  {
    name: "audit",
    summary: "verify, prune or vouch for the audit log",
    load: async () => (await import("./commands/reputation/audit.ts")).addAuditCommand,
  },
  {
    name: "backup",
    summary: "write everything of the store into a file",
    load: async () => (await import("./commands/operation/copies.ts")).addBackupCommand,
  },
  {
    name: "restore",
    summary: "fill an empty store from a backup",
    load: async () => (await import("./commands/operation/copies.ts")).addRestoreCommand,
  },
  {
    name: "move",
    summary: "copy a stopped deployment into an empty store of any kind",
    load: async () => (await import("./commands/operation/copies.ts")).addMoveCommand,
  },
  {
    name: "doctor",
    summary: "check configuration, store and remote",
    load: async () => (await import("./commands/operation/doctor.ts")).addDoctorCommand,
  },
  {
    name: "demo",
    summary: "show both interfaces at work, with real rows",
    load: async () => (await import("./commands/operation/demo.ts")).addDemoCommand,
  },
];
