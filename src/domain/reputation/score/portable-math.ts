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
