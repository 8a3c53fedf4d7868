import { expect } from "bun:test";
import { Secrets } from "../../../src/repositories/kept-values.ts";
import { repositoryTests } from "../support/repository-tests.ts";

repositoryTests(
  "secrets",
  (documents) => new Secrets(documents),
  (it) => {
    it("D-1.3 getOrCreate() keeps the first secret of a name", async (secrets) => {
      expect(await secrets.getOrCreate("jwt_secret", "first")).toBe("first");
      expect(await secrets.getOrCreate("jwt_secret", "second")).toBe("first");
      expect(await secrets.getOrCreate("api_key_pepper", "third é\0$")).toBe("third é\0$");
      expect(await secrets.getOrCreate("jwt_secret", "third é\0$")).toBe("first");
    });

    it.everywhere(
      "D-1.3 instances that make a secret at once get the same, and keep it",
      async (secrets, other) => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            (n % 2 ? secrets : other).getOrCreate("jwt_secret", `secret ${n}`),
          ),
        );
        expect(new Set(answers).size).toBe(1);
        expect(await other.getOrCreate("jwt_secret", "another")).toBe(answers[0]!);
      },
    );
  },
);
