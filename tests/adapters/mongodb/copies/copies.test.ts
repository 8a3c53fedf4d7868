import { copiesContract, copiesOf } from "../../../contract/copies/copies-contract.ts";
import { MONGODB } from "../../../http/support/backends.ts";

copiesContract(copiesOf(MONGODB));
