/** The address of a service without a slash at its end. Throws `TypeError` for one to which no path can be added; it shows none. */
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
