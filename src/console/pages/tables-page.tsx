import { TableList } from "./tables/table-list.tsx";
import { TableRows } from "./tables/table-rows.tsx";

/** The tables of the registry, and the rows of one. `table`: its name. D-9.4. */
export function TablesPage({ table }: Readonly<Record<string, string>>) {
  return table === undefined ? <TableList /> : <TableRows table={table} />;
}
