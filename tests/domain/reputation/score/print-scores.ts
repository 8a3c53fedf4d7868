// Prints the scores of every golden and generated person, for score-runtimes.test.ts to compare.
import { computeScore } from "../../../../src/domain/reputation/score/score.ts";
import { generatedPersons } from "./generated-scores.ts";
import { GOLDEN_NOW_MS, GOLDEN_SCORES } from "./golden-scores.ts";

const golden = GOLDEN_SCORES.map(({ accounts }) => scoreOf(accounts)).map(
  ({ score, starLevel, points }) => ({ score, starLevel, points }),
);
const generated = generatedPersons().map((accounts) => scoreOf(accounts).score);
console.log(JSON.stringify({ golden, generated }));

function scoreOf(accounts: (typeof GOLDEN_SCORES)[number]["accounts"]) {
  return computeScore({ profile: null, accounts, nowMs: GOLDEN_NOW_MS });
}
