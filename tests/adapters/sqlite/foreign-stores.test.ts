// What the stores promise holds for tables that another program made, which get no column to order by. D-11.4.
import { Database } from "bun:sqlite";
import { liveEndsContract } from "../../contract/live-ends-contract.ts";
import { readingContract } from "../../contract/tables/reading/reading-contract.ts";
import { tableMarkerTests } from "../../contract/tables/table-store-markers.ts";
import { tableValueTests } from "../../contract/tables/table-store-values.ts";
import { tableWriteTests } from "../../contract/tables/table-store-writes.ts";
import { createTableSql } from "./foreign-tables.ts";
import { openFileStore } from "./stores-support.ts";

/** A store whose tables an application makes, right before they are prepared. */
const openForeignStore = () =>
  openFileStore((path, tables) => {
    const application = new Database(path);
    for (const table of tables) application.run(createTableSql(table));
    application.close();
  });

const FOREIGN = {
  name: "SQLite, tables of another program",
  options: { isShared: true, randomRuns: 25 },
  open: openForeignStore,
};

readingContract(FOREIGN);
tableWriteTests(FOREIGN);
tableValueTests(FOREIGN);
tableMarkerTests(FOREIGN);
liveEndsContract(FOREIGN);
