/**
 * Times of a batch of lookups, with which the model gives what two instances measured on one replica set of three: 6,400
 * lookups a second of two accounts, and three quarters of that of one account (docs/performance.md).
 */
export const MEASURED = {
  openMs: 2,
  openPerLookupMs: 0.03,
  commitMs: 7,
} as const;
