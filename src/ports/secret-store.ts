/** Secrets that the service makes for itself at first start. D-1.3. Throws `store_unavailable`. */
export interface SecretStore {
  /**
   * The secret of that name. When there is none, `fresh` is kept, durably, and returned; of several instances that ask
   * at once all get the same.
   */
  getOrCreate(name: "jwt_secret" | "api_key_pepper", fresh: string): Promise<string>;
}
