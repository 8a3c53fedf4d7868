import { expect, test } from "bun:test";
import { markerName, SYNC_DIRECTIONS } from "../../../src/domain/sync/marker.ts";

test("S-2.5, S-4.4.2 markerName() is sync_last_<direction>_<table>", () => {
  expect(markerName("push", "profiles")).toBe("sync_last_push_profiles");
  expect(markerName("pull", "platform_accounts")).toBe("sync_last_pull_platform_accounts");
});

test("S-2.5 the directions of markers are push and pull", () => {
  expect(SYNC_DIRECTIONS).toEqual(["push", "pull"]);
});
