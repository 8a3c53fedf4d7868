// The reputation score, formula `rep-2`. docs/reputation.md explains every step and constant. D-6.6.
import { compareUtf8, type JsonObject } from "../../shared/json.ts";
import { MAX_SCORE, MAX_STAR_LEVEL, POINTS_PER_STAR } from "../../shared/limits.ts";
import { compareDateTimes, DAY_MS, dateTimeMs } from "../../shared/time.ts";
import {
  countingAccounts,
  findPlatform,
  MAX_RATING,
  type Platform,
  type PlatformAccount,
  type PlatformCategory,
  readDateTime,
  UNKNOWN_TIME,
} from "./platforms.ts";

/** Names the formula. It changes whenever the same inputs would give another number. D-6.6. */
export const SCORE_VERSION = "rep-2";

/** The weight of each category's best evidence: the harder to forge, the higher. */
export const CATEGORY_WEIGHTS: Readonly<Record<PlatformCategory, number>> = {
  identity: 3,
  finance: 2.5,
  commerce: 2,
  professional: 1.75,
  code: 1.5,
  knowledge: 1.25,
  creative: 1,
  content: 1,
  community: 0.75,
  // Both together: at most 0.4 of evidence, which is 10 points.
  contact: 0.25,
};

/** Shares of the parts of one account's evidence. */
const VERIFICATION_SHARE = 1;
const AGE_SHARE = 3;
const ACTIVITY_SHARE = 4;
const RATING_SHARE = 3;
const AGE_SCALE_DAYS = 730;
const IDLE_HALVING_DAYS = 180;
const IDLE_FLOOR = 0.5;
/** A new account counts as if it had this many ratings of this worth (3.5 of 5). */
const PRIOR_RATINGS = 7;
const PRIOR_WORTH = 0.7;
/** The maturity of a new account without activity. */
const MATURITY_FLOOR = 0.1;
const MATURITY_SCALE_DAYS = 180;
/** The most that a long record of good ratings adds. */
const RECORD_SHARE = 1.25;
const RECORD_RATINGS = 200;
/** Days for which the disputes of an account that is no longer verified count. */
const KEPT_DISPUTE_DAYS = 365;
const RANK_FACTOR = 0.6;
const STRENGTH_SCALE = 4;
const DISPUTE_PERCENT = 15;
const MAX_DISPUTE_PERCENT = 50;
/** Evidence is counted in millionths, so that sums are exact and order cannot matter. */
const MILLION = 1_000_000;
const HUNDREDTHS = 100;

interface PlatformPoints {
  /** Lowercase. */
  readonly platform: string;
  /** Points of the score, 0 to 100, two decimals. */
  readonly points: number;
}

export interface Score {
  /** 0 to 100. */
  readonly score: number;
  /** 1 to 5. */
  readonly starLevel: number;
  /** Platforms with a verified account, those outside the catalogue too. */
  readonly verifiedPlatforms: number;
  /** Points of each verified platform, ordered by platform; their sum is the score. */
  readonly points: readonly PlatformPoints[];
  readonly scoreVersion: typeof SCORE_VERSION;
  /** The time of the last change of an input, canonical text; 1970 when no input says when. */
  readonly updatedAt: string;
}

/** The stored rows of a person, and the time: only its UTC day matters. */
interface ScoreInput {
  /** The row of `profiles`; only its times are read. Null when there is none. */
  readonly profile: JsonObject | null;
  /** The person's rows of `platform_accounts`, in any order. */
  readonly accounts: readonly JsonObject[];
  readonly nowMs: number;
}

interface Evidence {
  readonly platform: string;
  readonly category: PlatformCategory;
  readonly millionths: number;
}

/** Computes a person's score. Total: every row a push can store gives a number in range. D-6.6. */
export function computeScore(input: ScoreInput): Score {
  const today = Math.floor(input.nowMs / DAY_MS);
  const known = countingAccounts(input.accounts);
  const accounts = known.filter(({ isVerified }) => isVerified);
  const counted = countByRank(accounts.map((account) => evidenceOf(account, today)));
  const total = counted.reduce((sum, { millionths }) => sum + millionths, 0);
  const strength = 1 - expMinus(total / MILLION / STRENGTH_SCALE);
  const score = Math.floor(strength * keptPercent(known, today) + 0.5);
  return {
    score,
    starLevel: starLevelOf(score),
    verifiedPlatforms: accounts.length,
    points: sharePoints(counted, score),
    scoreVersion: SCORE_VERSION,
    updatedAt: lastChangeOf(input),
  };
}

export function starLevelOf(score: number): number {
  return Math.min(MAX_STAR_LEVEL, 1 + Math.floor(score / POINTS_PER_STAR));
}

function evidenceOf(account: PlatformAccount, today: number): Evidence {
  const platform = findPlatform(account.platform);
  const { category } = platform;
  const proven = maturityOf(account, platform, today) * recordOf(account, platform, today);
  const worth = worthOf(account, platform, today) * recencyOf(account, today) * proven;
  const millionths = Math.floor(CATEGORY_WEIGHTS[category] * worth * MILLION + 0.5);
  return { platform: account.platform, category, millionths };
}

/** How much an account proves, 0 to 1: that it was verified, its age, its activity and its ratings. */
function worthOf(account: PlatformAccount, platform: Platform, today: number): number {
  const age = ageOf(account, today, AGE_SCALE_DAYS);
  const parts =
    VERIFICATION_SHARE + AGE_SHARE * age + ACTIVITY_SHARE * activityOf(account, platform);
  const shares = VERIFICATION_SHARE + AGE_SHARE + ACTIVITY_SHARE;
  if (!platform.hasRatings) return parts / shares;
  return (parts + RATING_SHARE * ratingOf(account)) / (shares + RATING_SHARE);
}

/** 0 to 1, growing with the age; 0 when it is not known. */
function ageOf(account: PlatformAccount, today: number, scaleDays: number): number {
  return 1 - expMinus(daysSince(account.createdAt, today, 0) / scaleDays);
}

/** 1 for an old or active account, down to the floor for one made today without activity. */
function maturityOf(account: PlatformAccount, platform: Platform, today: number): number {
  const age = ageOf(account, today, MATURITY_SCALE_DAYS);
  const missing = (1 - age) * (1 - activityOf(account, platform));
  return MATURITY_FLOOR + (1 - MATURITY_FLOOR) * (1 - missing);
}

/** 1, or more for years of ratings that are better than the prior. */
function recordOf(account: PlatformAccount, platform: Platform, today: number): number {
  if (!platform.hasRatings) return 1;
  const count = ratingsOf(account);
  const goodness = Math.max(0, (ratingOf(account) - PRIOR_WORTH) / (1 - PRIOR_WORTH));
  const volume = count / (count + RECORD_RATINGS);
  return 1 + RECORD_SHARE * ageOf(account, today, AGE_SCALE_DAYS) * volume * goodness;
}

/** 0 to 1 with diminishing returns; 0 when not known. Every rating was given for something done. */
function activityOf(account: PlatformAccount, platform: Platform): number {
  const known = account.activityCount ?? 0;
  const done = platform.hasRatings ? Math.max(known, ratingsOf(account)) : known;
  const count = Math.min(done, platform.fullActivity);
  return naturalLog(1 + count) / naturalLog(1 + platform.fullActivity);
}

/** 0 to 1: the mean rating, drawn towards the prior while ratings are few. */
function ratingOf(account: PlatformAccount): number {
  const count = ratingsOf(account);
  const worth = (account.rating ?? 0) / MAX_RATING;
  return (count * worth + PRIOR_RATINGS * PRIOR_WORTH) / (count + PRIOR_RATINGS);
}

/** Ratings whose mean is known. */
function ratingsOf({ rating, ratingCount }: PlatformAccount): number {
  return rating === null ? 0 : (ratingCount ?? 0);
}

/** 1 for an account in use today, falling to one half; one half for an unknown last use. */
function recencyOf(account: PlatformAccount, today: number): number {
  const idleDays = daysSince(account.lastActiveAt, today, Number.POSITIVE_INFINITY);
  return IDLE_FLOOR + (1 - IDLE_FLOOR) * halvingPower(idleDays / IDLE_HALVING_DAYS);
}

/** Whole UTC days from a time to today, 0 for one to come. */
function daysSince(time: string | null, today: number, whenUnknown: number): number {
  if (time === null) return whenUnknown;
  return Math.max(0, today - Math.floor(dateTimeMs(time) / DAY_MS));
}

/** Weighs evidence by its rank: in each category the strongest counts whole, the next by 0.6, then by 0.36, and so on. */
function countByRank(evidence: readonly Evidence[]): readonly Evidence[] {
  const ranked = evidence.toSorted(
    (a, b) => b.millionths - a.millionths || compareUtf8(a.platform, b.platform),
  );
  const factors = new Map<PlatformCategory, number>();
  return ranked.map((one) => {
    const factor = factors.get(one.category) ?? 1;
    factors.set(one.category, factor * RANK_FACTOR);
    return { ...one, millionths: Math.floor(one.millionths * factor + 0.5) };
  });
}

/** Percent that disputes leave. Unlinking a disputed account gains nothing: its disputes count for a year after its last change. */
function keptPercent(accounts: readonly PlatformAccount[], today: number): number {
  const disputes = accounts
    .filter(
      ({ isVerified, updatedAt }) =>
        isVerified || daysSince(updatedAt, today, Number.POSITIVE_INFINITY) <= KEPT_DISPUTE_DAYS,
    )
    .reduce((sum, account) => sum + account.disputes, 0);
  return MAX_SCORE - Math.min(MAX_DISPUTE_PERCENT, DISPUTE_PERCENT * disputes);
}

/** Shares the score by evidence in hundredths of a point; the largest remainders get what rounding down leaves. */
function sharePoints(counted: readonly Evidence[], score: number): readonly PlatformPoints[] {
  const total = counted.reduce((sum, { millionths }) => sum + millionths, 0);
  const due = score * HUNDREDTHS;
  const shares = counted.map(({ platform, millionths }) => {
    const product = due * millionths;
    const remainder = product % total;
    return { platform, hundredths: (product - remainder) / total, remainder };
  });
  shares.sort((a, b) => b.remainder - a.remainder || compareUtf8(a.platform, b.platform));
  const left = due - shares.reduce((sum, { hundredths }) => sum + hundredths, 0);
  return shares
    .map(({ platform, hundredths }, i) => ({
      platform,
      points: (hundredths + (i < left ? 1 : 0)) / HUNDREDTHS,
    }))
    .sort((a, b) => compareUtf8(a.platform, b.platform));
}

/** The latest `updated_at` of all rows, verified or not; without any, the profile's `created_at`. */
function lastChangeOf({ profile, accounts }: ScoreInput): string {
  const rows = profile === null ? accounts : [profile, ...accounts];
  const times = rows.map((row) => readDateTime(row, "updated_at")).filter((time) => time !== null);
  if (times.length > 0) {
    return times.reduce((latest, time) => (compareDateTimes(time, latest) > 0 ? time : latest));
  }
  return (profile === null ? null : readDateTime(profile, "created_at")) ?? UNKNOWN_TIME;
}

// Exponential and logarithm from the four operations alone. ECMAScript fixes those to the last bit,
// but leaves `Math.exp`, `Math.log` and `**` to each engine; a score must not depend on the
// runtime. D-6.6. (`Math.LN2` is fixed too: the double nearest to ln 2.)

/** Terms after which neither series changes a double any more. */
const SERIES_TERMS = 24;
/** e^-60 is below 10^-26: nothing that is rounded to a millionth later. */
const VANISHING = 60;

/** e^-x for x of 0 or more, the same on every runtime, within 10^-14; 0 beyond x = 60. */
export function expMinus(x: number): number {
  if (x > VANISHING) return 0;
  const halvings = Math.floor(x / Math.LN2);
  const rest = x - halvings * Math.LN2;
  let term = 1;
  let sum = 1;
  for (let n = 1; n <= SERIES_TERMS; n++) {
    term *= -rest / n;
    sum += term;
  }
  for (let i = 0; i < halvings; i++) sum /= 2;
  return sum;
}

/** 2^-x for x of 0 or more, the same on every runtime. */
export function halvingPower(x: number): number {
  return expMinus(x * Math.LN2);
}

/** The natural logarithm of x, 1 or more and finite, the same on every runtime, within 10^-13. */
export function naturalLog(x: number): number {
  let mantissa = x;
  let doublings = 0;
  while (mantissa >= 2) {
    mantissa /= 2;
    doublings++;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)), whose series needs few terms for m below 2.
  const ratio = (mantissa - 1) / (mantissa + 1);
  let power = ratio;
  let sum = 0;
  for (let n = 0; n < SERIES_TERMS; n++) {
    sum += power / (2 * n + 1);
    power *= ratio * ratio;
  }
  return 2 * sum + doublings * Math.LN2;
}
