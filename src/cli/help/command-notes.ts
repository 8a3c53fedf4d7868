// Notes in the help of each command beside its options: examples, and exit codes that mean something of its own. Tests walk
// the program, and parse each example. There is no manual and no completion: they were a second grammar of the command line.

export interface CommandNotes {
  /** Command lines without `repsync`, and what each does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** Meanings of exit codes that differ from `COMMON_EXITS`, or are not among them. */
  readonly exits?: Readonly<Record<number, string>>;
}

/** The meaning of exit codes unless a command says otherwise. D-4.12. */
export const COMMON_EXITS: Readonly<Record<number, string>> = {
  0: "success",
  1: "failed",
  2: "wrong command line or configuration",
};

/** Notes by the path of the command, such as `keys create`. A test refuses commands without an entry. */
export const COMMAND_NOTES: Readonly<Record<string, CommandNotes>> = {
  init: {
    examples: [
      ["init", "makes .env and tables.json in this folder"],
      ["init --folder shop", "makes them in the folder shop"],
      ["init --join https://shop.example", "with the tables of that deployment"],
    ],
    exits: { 1: "failed, or with --join a check of doctor fails" },
  },
  "tables infer": {
    examples: [
      ["tables infer stock.csv > tables.json", "makes a registry file for a CSV file"],
      ["tables infer stock.csv --into tables.json", "adds the table to a registry file"],
      ["tables infer stock.csv --key shop,sku --type price=numeric", "where you know better"],
      ["tables infer new.csv --table stock --into tables.json --update", "adds new columns"],
    ],
    exits: { 1: "failed, or a table has no key that could be guessed" },
  },
  "tables check": {
    examples: [
      ["tables check", "checks the registry file of SYNC_TABLES"],
      ["tables check tables.json", "checks this file"],
    ],
    exits: { 2: "the file has problems, or cannot be read" },
  },
  "tables stamp": {
    examples: [["tables stamp airports", "gives the table airports times that repsync keeps"]],
  },
  serve: {
    examples: [
      ["serve", "serves with the settings of the environment and .env"],
      ["--env-file shop.env serve", "reads the settings from another file"],
    ],
  },
  sync: {
    examples: [
      ["sync both", "moves what changed in every table, both ways"],
      ["sync pull listings --full", "fetches every row of one table"],
      ["sync push --dry-run", "counts what would be sent"],
      ["sync pull --json | jq .total_pulled", "prints one number of the result"],
    ],
    exits: { 3: "records were rejected at either end" },
  },
  status: {
    examples: [
      ["status", "shows tables, rows and markers at both ends"],
      ["status --json | jq .local.table_counts", "prints the rows of each table here"],
    ],
  },
  compare: {
    examples: [
      ["compare listings && echo equal", "compares one table"],
      ["compare --repair newest", "gives both ends the newer one of each two rows that differ"],
      ["compare listings --repair pull --delete", "makes the table here the same as there"],
    ],
    exits: { 3: "rows differ, and stay so" },
  },
  runs: {
    examples: [
      ["runs --limit 5", "lists the last five runs"],
      ["runs 3f9c2a1b", "shows one run, by the beginning of its id"],
    ],
  },
  "rejected list": {
    examples: [
      ["rejected list", "lists the rejected records of every table"],
      ["rejected list listings --limit 5", "lists the last five of one table"],
    ],
  },
  "rejected retry": {
    examples: [["rejected retry 0000000000000042", "tries one record again, now"]],
    exits: { 3: "the record was rejected again" },
  },
  "rejected drop": {
    examples: [["rejected drop 0000000000000042", "gives one record up"]],
  },
  delete: {
    examples: [["delete listings berlin-shop SKU-17", "deletes the row with this key"]],
    exits: { 1: "failed, or no row has this key" },
  },
  "deletes drop": {
    examples: [
      ["deletes drop listings && repsync sync pull listings", "fetches deleted rows again"],
    ],
  },
  import: {
    examples: [
      ["import listings stock.csv --dry-run", "checks a file and writes nothing"],
      ['import listings stock.csv --delimiter ";" --decimal ,', "imports a file of a spreadsheet"],
      ["import listings week.csv --whole", "and removes what the file does not have"],
      ["import --all shop.db", "imports all tables of a SQLite file"],
      ["import listings - --format ndjson < stock.ndjson", "imports standard input"],
    ],
    exits: { 3: "records were not imported" },
  },
  export: {
    examples: [
      ["export listings listings.csv", "writes a table into a CSV file"],
      ["export listings listings.ndjson.gz", "writes it compressed, an object for each line"],
      ["export listings - --format json | jq length", "writes it to standard output"],
    ],
  },
  backup: {
    examples: [["backup monday.backup", "copies everything that the store holds into a file"]],
  },
  restore: {
    examples: [["restore monday.backup", "puts a backup into an empty store"]],
  },
  move: {
    examples: [
      [
        'move "mongodb://db.example/shop?replicaSet=rs0"',
        "copies a stopped deployment into another store",
      ],
    ],
  },
  "admin create": {
    examples: [
      ["admin create root", "asks for a password twice"],
      ["admin create root < password.txt", "takes the first line of a file"],
    ],
  },
  "admin set-password": {
    examples: [["admin set-password ana", "asks for the new password"]],
  },
  "accounts list": {
    examples: [
      ["accounts list --limit 20", "lists the first twenty accounts"],
      ["accounts list --query example.com", "lists those with this in their name or address"],
    ],
  },
  "accounts show": { examples: [["accounts show ana", "shows one account"]] },
  "accounts suspend": { examples: [["accounts suspend ana", "stops the account at once"]] },
  "accounts restore": { examples: [["accounts restore ana", "lets it go on"]] },
  "accounts erase": {
    examples: [
      ["accounts erase ana", "asks, and erases everything about the person"],
      ["accounts erase ana --yes", "does not ask"],
    ],
  },
  "accounts release": {
    examples: [["accounts release ana", "frees the name of somebody who was erased"]],
  },
  "keys create": {
    examples: [
      ['keys create acme --name "seller checks"', "issues a key and shows it"],
      ["keys create acme --name trial --expires 2027-01-01", "issues one that expires"],
    ],
  },
  "keys list": { examples: [["keys list acme", "lists the keys of an account"]] },
  "keys rotate": {
    examples: [
      ["keys rotate acme 7c1d90e2", "replaces a key"],
      ["keys rotate acme 7c1d90e2 --overlap-seconds 3600", "accepts both for an hour"],
    ],
  },
  "keys revoke": { examples: [["keys revoke acme 7c1d90e2", "revokes a key at once"]] },
  "plan set": {
    examples: [
      ["plan set acme business", "puts the account on another plan"],
      ["plan set acme enterprise --calls-per-month 5000000", "with a limit of its own"],
    ],
  },
  "plan show": { examples: [["plan show acme", "shows the plan of an account"]] },
  "audit verify": {
    examples: [
      ["audit verify", "verifies every record"],
      ["audit verify --heads heads.json", "also that the log goes on from these heads"],
    ],
    exits: { 1: "failed, or the log is not as it was written" },
  },
  "audit heads": {
    examples: [["audit heads --out heads.json", "writes the heads, to be kept elsewhere"]],
  },
  "audit prune": {
    examples: [["audit prune", "removes records older than AUDIT_RETENTION_DAYS"]],
  },
  doctor: {
    examples: [
      ["doctor", "checks everything and says what to do"],
      ["--env-file shop.env doctor", "checks the deployment of another file of settings"],
    ],
    exits: { 1: "a check failed", 2: "the configuration is wrong" },
  },
  demo: {
    examples: [
      ["demo", "shows both interfaces, and serves on until Ctrl-C"],
      ["demo --once", "ends by itself"],
    ],
    exits: { 1: "something was not as expected", 130: "ended by Ctrl-C before it had shown all" },
  },
};
