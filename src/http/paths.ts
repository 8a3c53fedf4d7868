// What a path says about the shape of its replies.

/** True for paths that answer in the shapes of the reputation document. */
export function isReputationPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}

/** Of the service, or of the process: these are told to the end, in shapes of their own. D-10.5. */
export function isHealthPath(path: string): boolean {
  return path === "/v1/health" || path === "/v1/health/live" || path === "/v1/health/ready";
}

/** True where replies are for their reader alone. D-5.3. */
export function isPrivatePath(path: string): boolean {
  return isReputationPath(path) && !isHealthPath(path);
}

/** True for what is answered with the headers of D-9.2. */
export function isConsolePath(path: string): boolean {
  return path === "/console" || path.startsWith("/console/");
}
