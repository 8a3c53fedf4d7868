import { describe, expect } from "bun:test";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<FullStorage, "secrets" | "close">;

/** What every `SecretStore` does. */
export function secretStoreContract(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: secrets`, () => {
    it("D-1.3 getOrCreate() keeps the first secret of a name", async ({ secrets }) => {
      expect(await secrets.getOrCreate("jwt_secret", "first")).toBe("first");
      expect(await secrets.getOrCreate("jwt_secret", "second")).toBe("first");
      expect(await secrets.getOrCreate("api_key_pepper", "third é\0$")).toBe("third é\0$");
      expect(await secrets.getOrCreate("jwt_secret", "third é\0$")).toBe("first");
    });

    if (!harness.options.isShared) return;

    it("D-1.3 instances that make a secret at once get the same, and keep it", async (storage, store) => {
      const other = await openSecond(store);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? storage : other).secrets.getOrCreate("jwt_secret", `secret ${n}`),
        ),
      );
      expect(new Set(answers).size).toBe(1);
      await storage.close();
      await other.close();
      const later = await openSecond(store);
      expect(await later.secrets.getOrCreate("jwt_secret", "another")).toBe(answers[0]!);
    });
  });
}
