import { reputationTests } from "../support/reputation-tests.ts";
import { lookupSuite } from "./lookup-suite.ts";

reputationTests(lookupSuite);
