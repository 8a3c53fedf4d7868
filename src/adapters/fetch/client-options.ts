/** The address without a slash at its end. Throws `TypeError`, without the address, where no path can be added. */
export function readBaseUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw new TypeError("baseUrl is not an absolute URL");
  const url = new URL(baseUrl);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError("baseUrl does not start with http:// or https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("baseUrl must not contain a user name or password");
  }
  if (url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl must not have a query or fragment");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Throws `TypeError` unless the option is absent or a function. */
export function readFunction<F>(name: string, option: F): F {
  if (option === undefined || typeof option === "function") return option;
  throw new TypeError(`${name} is not a function`);
}

/** Throws `RangeError` unless the value is a whole number from 1 to `greatest`. */
export function readLimit(name: string, value: number, greatest: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= greatest) return value;
  throw new RangeError(`${name} is not a whole number from 1 to ${greatest}: ${value}`);
}
