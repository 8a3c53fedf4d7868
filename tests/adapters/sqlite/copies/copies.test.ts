import { copiesContract, copiesOf } from "../../../contract/copies/copies-contract.ts";
import { SQLITE_FILE } from "../../../http/support/backends.ts";

copiesContract(copiesOf(SQLITE_FILE));
