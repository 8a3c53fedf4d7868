import { expect, test } from "bun:test";
import { readConfig } from "../../../src/app/config.ts";
import { refused } from "../../support/failures.ts";
import { noFile } from "./no-file.ts";

test.each(["AUDIT_RETENTION_DAYS", "SYNC_TOMBSTONE_DAYS"])(
  "D-1.3, D-7.6.5 %s is no more than there are dates for",
  (name) => {
    const read = (days: string) => () => readConfig({ [name]: days }, noFile);
    expect(read("365000")).not.toThrow();
    const problem = `${name} must be a whole number from 1 to 365000: "365001"`;
    expect(refused(read("365001"))).toEqual([problem]);
  },
);
