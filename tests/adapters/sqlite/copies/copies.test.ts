import { copiesContract } from "../../../contract/copies/copies-contract.ts";
import { SQLITE_FILE } from "../../../http/support/backends.ts";

copiesContract(SQLITE_FILE);
