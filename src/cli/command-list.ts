// Every command: its summary, its code, its examples and exit codes. Code is loaded at its call, as it takes longer to load than
// to show the help. There is no manual and no completion: each was a second grammar of the command line.
import type { AddCommands } from "./command-runner.ts";

/** Commands and groups, in the order of the help. */
const SUMMARIES = {
  init: "make the files of a new deployment",
  tables: "check the registry of tables, or guess one",
  serve: "run the service",
  sync: "push or pull rows, or both",
  status: "show tables, rows and markers here and there",
  compare: "compare tables with the remote's, and repair them",
  runs: "list the last runs and comparisons",
  rejected: "list, retry or drop rejected records",
  delete: "delete a row",
  deletes: "take deletes back",
  import: "write the records of a file into a table",
  export: "write the rows of a table into a file",
  admin: "make an administrator, set passwords",
  accounts: "administer accounts and their names",
  keys: "issue, list, rotate or revoke API keys",
  plan: "show or change the plan of an account",
  audit: "verify, prune or vouch for the audit log",
  backup: "write everything of the store into a file",
  restore: "fill an empty store from a backup",
  move: "copy a stopped deployment into an empty store of any kind",
  doctor: "check configuration, store and remote",
  demo: "show both interfaces at work, with real rows",
} as const;

type CommandName = keyof typeof SUMMARIES;

const accounts = () => import("./commands/reputation/accounts.ts");
const copies = () => import("./commands/operation/copies.ts");
const deletes = () => import("./commands/sync/delete.ts");
const keys = () => import("./commands/reputation/keys.ts");

const FILES: Readonly<Record<CommandName, () => Promise<{ readonly addCommands: AddCommands }>>> = {
  init: () => import("./commands/operation/init.ts"),
  tables: () => import("./commands/operation/tables.ts"),
  serve: () => import("./commands/operation/serve.ts"),
  sync: () => import("./commands/sync/sync.ts"),
  status: () => import("./commands/sync/status.ts"),
  compare: () => import("./commands/sync/compare.ts"),
  runs: () => import("./commands/sync/runs.ts"),
  rejected: () => import("./commands/sync/rejected.ts"),
  delete: deletes,
  deletes,
  import: () => import("./commands/sync/import.ts"),
  export: () => import("./commands/sync/export.ts"),
  admin: accounts,
  accounts,
  keys,
  plan: keys,
  audit: () => import("./commands/reputation/audit.ts"),
  backup: copies,
  restore: copies,
  move: copies,
  doctor: () => import("./commands/operation/doctor.ts"),
  demo: () => import("./commands/operation/demo.ts"),
};

export const COMMAND_LIST = (Object.keys(SUMMARIES) as CommandName[]).map((name) => ({
  name,
  summary: SUMMARIES[name],
  load: FILES[name],
}));

/** Command lines without `repsync`, and what each does. Tests parse them, and refuse a command without one. */
export const EXAMPLES: readonly (readonly [line: string, does: string])[] = [
  ["init", "makes .env and tables.json in this folder"],
  ["init --folder shop", "makes them in the folder shop"],
  ["init --join https://shop.example", "with the tables of that deployment"],
  ["tables infer stock.csv > tables.json", "makes a registry file for a CSV file"],
  ["tables infer stock.csv --into tables.json", "adds the table to a registry file"],
  ["tables infer stock.csv --key shop,sku --type price=numeric", "where you know better"],
  ["tables infer new.csv --table stock --into tables.json --update", "adds new columns"],
  ["tables check", "checks the registry file of SYNC_TABLES"],
  ["tables check tables.json", "checks this file"],
  ["tables stamp airports", "gives the table airports times that repsync keeps"],
  ["serve", "serves with the settings of the environment and .env"],
  ["--env-file shop.env serve", "reads the settings from another file"],
  ["sync both", "moves what changed in every table, both ways"],
  ["sync pull listings --full", "fetches every row of one table"],
  ["sync push --dry-run", "counts what would be sent"],
  ["sync pull --json | jq .total_pulled", "prints one number of the result"],
  ["status", "shows tables, rows and markers at both ends"],
  ["status --json | jq .local.table_counts", "prints the rows of each table here"],
  ["compare listings && echo equal", "compares one table"],
  ["compare --repair newest", "gives both ends the newer one of each two rows that differ"],
  ["compare listings --repair pull --delete", "makes the table here the same as there"],
  ["runs --limit 5", "lists the last five runs"],
  ["runs 3f9c2a1b", "shows one run, by the beginning of its id"],
  ["rejected list", "lists the rejected records of every table"],
  ["rejected list listings --limit 5", "lists the last five of one table"],
  ["rejected retry 0000000000000042", "tries one record again, now"],
  ["rejected drop 0000000000000042", "gives one record up"],
  ["delete listings berlin-shop SKU-17", "deletes the row with this key"],
  ["deletes drop listings && repsync sync pull listings", "fetches deleted rows again"],
  ["import listings stock.csv --dry-run", "checks a file and writes nothing"],
  ['import listings stock.csv --delimiter ";" --decimal ,', "imports a file of a spreadsheet"],
  ["import listings week.csv --whole", "and removes what the file does not have"],
  ["import --all shop.db", "imports all tables of a SQLite file"],
  ["import listings - --format ndjson < stock.ndjson", "imports standard input"],
  ["export listings listings.csv", "writes a table into a CSV file"],
  ["export listings listings.ndjson.gz", "writes it compressed, an object for each line"],
  ["export listings - --format json | jq length", "writes it to standard output"],
  ["backup monday.backup", "copies everything that the store holds into a file"],
  ["restore monday.backup", "puts a backup into an empty store"],
  [
    'move "mongodb://db.example/shop?replicaSet=rs0"',
    "copies a stopped deployment into another store",
  ],
  ["move < new-url.txt", "takes an address with a password from a file"],
  ["admin create root", "asks for a password twice"],
  ["admin create root < password.txt", "takes the first line of a file"],
  ["admin set-password ana", "asks for the new password"],
  ["accounts list --limit 20", "lists the first twenty accounts"],
  ["accounts list --query example.com", "lists those with this in their name or address"],
  ["accounts show ana", "shows one account"],
  ["accounts suspend ana", "stops the account at once"],
  ["accounts restore ana", "lets it go on"],
  ["accounts erase ana", "asks, and erases everything about the person"],
  ["accounts erase ana --yes", "does not ask"],
  ["accounts release ana", "frees the name of somebody who was erased"],
  ['keys create acme --name "seller checks"', "issues a key and shows it"],
  ["keys create acme --name trial --expires 2027-01-01", "issues one that expires"],
  ["keys list acme", "lists the keys of an account"],
  ["keys rotate acme 7c1d90e2", "replaces a key"],
  ["keys rotate acme 7c1d90e2 --overlap-seconds 3600", "accepts both for an hour"],
  ["keys revoke acme 7c1d90e2", "revokes a key at once"],
  ["plan set acme business", "puts the account on another plan"],
  ["plan set acme enterprise --calls-per-month 5000000", "with a limit of its own"],
  ["plan show acme", "shows the plan of an account"],
  ["audit verify", "verifies every record"],
  ["audit verify --heads heads.json", "also that the log goes on from these heads"],
  ["audit heads --out heads.json", "writes the heads, to be kept elsewhere"],
  ["audit prune", "removes records older than AUDIT_RETENTION_DAYS"],
  ["doctor", "checks everything and says what to do"],
  ["--env-file shop.env doctor", "checks the deployment of another file of settings"],
  ["demo", "shows both interfaces, and serves on until Ctrl-C"],
  ["demo --once", "ends by itself"],
];

/** By the path of a command, such as `keys create`. */
export function examplesOf(path: string): typeof EXAMPLES {
  return EXAMPLES.filter(([line]) =>
    `${line.replace(/^--env-file \S+ /, "")} `.startsWith(`${path} `),
  );
}

/** Unless a command has its own. D-4.12. */
const COMMON_EXITS: Readonly<Record<number, string>> = {
  0: "success",
  1: "failed",
  2: "wrong command line or configuration",
};

/** Other meanings, and other codes, by the path of the command. */
export const OWN_EXITS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  init: { 1: "failed, or with --join a check of doctor fails" },
  "tables infer": { 1: "failed, or a table has no key that could be guessed" },
  "tables check": { 2: "the file has problems, or cannot be read" },
  sync: { 3: "records were rejected at either end" },
  compare: { 3: "rows differ, and stay so" },
  "rejected retry": { 3: "the record was rejected again" },
  delete: { 1: "failed, or no row has this key" },
  import: { 3: "records were not imported" },
  "audit verify": { 1: "failed, or the log is not as it was written" },
  doctor: { 1: "a check failed", 2: "the configuration is wrong" },
  demo: { 1: "something was not as expected", 130: "ended by Ctrl-C before it had shown all" },
};

export function exitsOf(path: string): Readonly<Record<number, string>> {
  return { ...COMMON_EXITS, ...OWN_EXITS[path] };
}
