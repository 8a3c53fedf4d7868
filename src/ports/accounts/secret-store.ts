/** What is kept. */
export type SecretName = "jwt_secret" | "api_key_pepper" | "api_key_pepper_mark";

/** Secrets that the service makes for itself at first start. D-1.3. Throws `store_unavailable`. */
export interface SecretStore {
  /**
   * The secret of that name. When there is none, `fresh` is kept, durably, and returned; of several instances that ask
   * at once all get the same.
   */
  getOrCreate(name: SecretName, fresh: string): Promise<string>;
}
