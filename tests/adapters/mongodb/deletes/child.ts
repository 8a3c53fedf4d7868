// An instance in a process of its own, which records until it is killed.
import { ITEMS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { openInstance } from "./support.ts";

const { storage } = await openInstance(process.argv[2] ?? "");
await storage.tombstones.end(ITEMS);
console.log("recording");
