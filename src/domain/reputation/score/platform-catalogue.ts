// The external platforms the score knows. docs/reputation.md has the same table, and a test compares them. R-1, D-6.6.

/** Decides the weight of a platform's evidence. */
export type PlatformCategory =
  | "identity"
  | "finance"
  | "commerce"
  | "professional"
  | "code"
  | "knowledge"
  | "creative"
  | "content"
  | "community"
  | "contact";

export interface Platform {
  /** Lowercase identifier.. */
  readonly platform: string;
  readonly category: PlatformCategory;
  /** Activity count from which more adds nothing, 1 or more: `N_p` of the formula. */
  readonly fullActivity: number;
  /** True where counterparties rate the account, so that `rating` and `rating_count` are read. */
  readonly hasRatings: boolean;
}

/** `N_p` of a platform outside the catalogue, which counts as a community without ratings. D-6.6. */
const UNKNOWN_PLATFORM_FULL_ACTIVITY = 2000;

const WITHOUT_RATINGS: readonly (readonly [PlatformCategory, Readonly<Record<string, number>>])[] =
  [
    ["identity", { government_id: 1 }],
    ["contact", { phone: 1, email_domain: 1 }],
    ["finance", { paypal: 500, stripe: 500, dana: 500, ovo: 500 }],
    ["professional", { linkedin: 500 }],
    ["code", { github: 2000, gitlab: 2000, bitbucket: 1000, npm: 50, huggingface: 50 }],
    ["knowledge", { stackoverflow: 1000, kaggle: 50, devto: 100, medium: 100 }],
    ["creative", { dribbble: 100, behance: 100 }],
    ["content", { youtube: 500, instagram: 2000, tiktok: 1000, x: 5000 }],
    ["community", { discord: 2000, reddit: 2000 }],
  ];

const WITH_RATINGS: readonly (readonly [PlatformCategory, Readonly<Record<string, number>>])[] = [
  ["commerce", { tokopedia: 5000, shopee: 5000, bukalapak: 2000, ebay: 5000, etsy: 2000 }],
  ["professional", { upwork: 200, fiverr: 500, freelancer: 200, toptal: 50 }],
];

export const PLATFORM_CATALOGUE: ReadonlyMap<string, Platform> = new Map([
  ...entriesOf(WITHOUT_RATINGS, false),
  ...entriesOf(WITH_RATINGS, true),
]);

/** The platform of an identifier in any case; an unknown one is a community. D-6.6. */
export function findPlatform(identifier: string): Platform {
  const platform = identifier.toLowerCase();
  return (
    PLATFORM_CATALOGUE.get(platform) ?? {
      platform,
      category: "community",
      fullActivity: UNKNOWN_PLATFORM_FULL_ACTIVITY,
      hasRatings: false,
    }
  );
}

function entriesOf(groups: typeof WITH_RATINGS, hasRatings: boolean): [string, Platform][] {
  return groups.flatMap(([category, platforms]) =>
    Object.entries(platforms).map(([platform, fullActivity]): [string, Platform] => [
      platform,
      { platform, category, fullActivity, hasRatings },
    ]),
  );
}
