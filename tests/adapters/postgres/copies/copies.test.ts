import { copiesContract, copiesOf } from "../../../contract/copies/copies-contract.ts";
import { POSTGRESQL } from "../../../http/support/backends.ts";

copiesContract(copiesOf(POSTGRESQL));
