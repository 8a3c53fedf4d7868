import { describe, expect, test } from "bun:test";
import { BunPasswordHasher } from "../../../src/adapters/bun/bun-password-hasher.ts";

const hasher = new BunPasswordHasher();

describe("passwords", () => {
  test("D-5.4 hash() is Argon2id with 19 MiB, two passes and a salt of its own", async () => {
    const [a, b] = await Promise.all([hasher.hash("correct horse"), hasher.hash("correct horse")]);
    expect(a).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{43}\$[\w+/]{43}$/);
    expect(a).not.toBe(b);
  });

  test("D-5.4 verify() tells the password from every other one", async () => {
    const passwords = ["correct horse", "correct horse ", "é".repeat(200)];
    for (const password of passwords) {
      const hash = await hasher.hash(password);
      for (const other of [...passwords, "", "é".repeat(199)]) {
        expect(await hasher.verify(other, hash)).toBe(other === password);
      }
    }
  });

  test("D-5.4 verify() knows hashes with other parameters, as this service had or may get them", async () => {
    const other = { algorithm: "argon2id", memoryCost: 1024, timeCost: 1 } as const;
    const hash = await Bun.password.hash("correct horse", other);
    expect(await hasher.verify("correct horse", hash)).toBe(true);
    expect(await hasher.verify("wrong horse", hash)).toBe(false);
  });

  test("D-5.4 verify() without a hash is false for any password", async () => {
    for (const password of ["correct horse", "", "a password that nobody has"]) {
      expect(await hasher.verify(password, null)).toBe(false);
    }
  });

  test("D-5.4 verify() without a hash takes as long as with one", async () => {
    const hash = await hasher.hash("correct horse");
    // Processor time, which a busy machine does not stretch. The least of several; a hash left out would show.
    const workMicros = async (work: () => Promise<boolean>) => {
      const durations: number[] = [];
      for (let n = 0; n < 5; n++) {
        const before = process.cpuUsage();
        await work();
        const { user, system } = process.cpuUsage(before);
        durations.push(user + system);
      }
      return Math.min(...durations);
    };
    const withHash = await workMicros(() => hasher.verify("wrong horse", hash));
    const without = await workMicros(() => hasher.verify("wrong horse", null));
    expect(without / withHash).toBeGreaterThan(0.3);
    expect(without / withHash).toBeLessThan(3);
  });

  test("D-5.4 hashing leaves the event loop free", async () => {
    let turns = 0;
    let isHashing = true;
    const hashing = hasher.hash("correct horse").finally(() => {
      isHashing = false;
    });
    while (isHashing) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await hashing;
    expect(turns).toBeGreaterThan(10);
  });
});
