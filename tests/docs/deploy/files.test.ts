// Every file of docs/deploy is taken by the program that reads it, and names only settings and metrics that there are.
import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { startService } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { hasTool, runTool } from "./deploy-tools.ts";

const ROOT = join(import.meta.dir, "../../..");
const DEPLOY = join(ROOT, "docs/deploy");
const COMPOSE = ["sqlite", "replica-set"] as const;
const COMPOSE_FILES = [
  ["sqlite", "compose.yaml"],
  ["sqlite", "two-processes.yaml"],
  ["replica-set", "compose.yaml"],
] as const;
const MONITORING = join(DEPLOY, "monitoring");

const SETTINGS = new Set(
  [...read(join(ROOT, ".env.example")).matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name),
);

describe("D-10.8 compose", () => {
  test.skipIf(!hasTool("docker-compose")).each(COMPOSE_FILES)(
    "%s/%s is read by Compose, with the secrets that its script makes",
    (name, file) => {
      const folder = copyOf(name);
      const made = Bun.spawnSync([join(folder, "make-secrets.sh")]);
      expect(made.stderr.toString()).toBe("");
      const { code, text } = runTool("docker-compose", ["-f", file, "config"], {
        folder,
      });
      expect({ code, text: code === 0 ? "" : text }).toEqual({ code: 0, text: "" });
      for (const [, secret = ""] of text.matchAll(/file: (\S+secrets\/\S+)/g)) {
        expect(statSync(secret).size).toBeGreaterThanOrEqual(32);
      }
      for (const [, mounted = ""] of text.matchAll(/- (\S+Caddyfile):/g)) {
        expect(existsSync(join(DEPLOY, "replica-set", basename(mounted)))).toBe(true);
      }
      expectSettings(text.matchAll(/^ {6}([A-Z][A-Z_]+):/gm), ["SITE", "MONGO_INITDB"]);
    },
  );

  test.each(COMPOSE)("%s/make-secrets.sh makes what is missing and keeps what is there", (name) => {
    const folder = copyOf(name);
    const run = () => Bun.spawnSync([join(folder, "make-secrets.sh")]).stdout.toString();
    const first = run();
    const secrets = join(folder, "secrets");
    const names = readdirSync(secrets).sort();
    expect(first.split("\n").filter(Boolean).sort()).toEqual(
      names.map((secret) => `Made secrets/${secret}`),
    );
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    const before = names.map((secret) => read(join(secrets, secret)));
    expect(new Set(before).size).toBe(names.length);
    expect(run()).toBe("");
    expect(names.map((secret) => read(join(secrets, secret)))).toEqual(before);
  });

  test("git leaves the secrets out", () => {
    const { exitCode } = Bun.spawnSync(["git", "check-ignore", "docs/deploy/sqlite/secrets/x"], {
      cwd: ROOT,
    });
    // Where there is no repository, as in an archive of it, the file itself has to say so.
    if (existsSync(join(ROOT, ".git"))) expect(exitCode).toBe(0);
    expect(read(join(ROOT, ".gitignore"))).toContain("docs/deploy/*/secrets/");
  });
});

describe("D-10.8 systemd", () => {
  test.skipIf(!hasTool("systemd-analyze"))("repsync.service is a sound unit", () => {
    const folder = makeTempFolder();
    const unit = join(folder, "repsync.service");
    // The program of a global install is not here.
    const text = read(join(DEPLOY, "systemd/repsync.service"));
    writeFileSync(unit, text.replace("/usr/local/bin/repsync", process.execPath));
    expect(runTool("systemd-analyze", ["verify", "--man=no", unit])).toEqual({ code: 0, text: "" });
    const security = ["security", "--offline=true", "--threshold=20", unit];
    expect(runTool("systemd-analyze", security).code).toBe(0);
    expectSettings(text.matchAll(/^Environment=([A-Z_]+)=/gm));
  });
});

describe("D-10.8 Kubernetes", () => {
  test.skipIf(!hasTool("python3"))("repsync.yaml holds to Kubernetes' own schemas", () => {
    const file = join(DEPLOY, "kubernetes/repsync.yaml");
    const { code, text } = runTool("python3", ["-m", "kubernetes_validate", "--strict", file]);
    expect({ code, text: code === 0 ? "" : text }).toEqual({ code: 0, text: "" });
    expect(text.match(/passed for resource/g)).toHaveLength(5);
    expectSettings(read(file).matchAll(/^ {2}([A-Z][A-Z_]+):|name: ([A-Z][A-Z_]+)$/gm));
  });
});

describe("D-10.8 Prometheus", () => {
  test.skipIf(!hasTool("promtool"))("its files are sound, and every alert fires in time", () => {
    const check = (...args: string[]) => runTool("promtool", args, { folder: MONITORING });
    expect(check("check", "config", "--syntax-only", "prometheus.yml").text).toContain("SUCCESS");
    expect(check("check", "rules", "repsync-rules.yml").text).toContain("SUCCESS: ");
    expect(check("test", "rules", "repsync-rules.test.yml").text).toContain("SUCCESS");
    const rules = read(join(MONITORING, "repsync-rules.yml")).matchAll(/- alert: (\w+)/g);
    const cases = read(join(MONITORING, "repsync-rules.test.yml"));
    const fires = (name: string) => cases.includes(`alertname: ${name}\n        exp_alerts:\n`);
    const untested = [...rules].map(([, name = ""]) => name).filter((name) => !fires(name));
    expect(untested).toEqual([]);
  });

  test("rules and dashboard ask for metrics and routes that a service has", async () => {
    const service = await startService({});
    await service.send("/v1/public/profiles/ana/reputation");
    const metrics = (await service.send("/metrics")).text;
    const known = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const rules = read(join(MONITORING, "repsync-rules.yml"));
    const both = `${rules}${read(join(MONITORING, "grafana-dashboard.json"))}`;
    const asked = both.matchAll(/\b(?:repsync|process)_[a-z_]+(?=\{| ==)/g);
    const unknown = [...asked].filter(
      ([name]) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, "")),
    );
    expect(unknown.map(([name]) => name)).toEqual([]);
    const routes = [...metrics.matchAll(/\broute="([^"]+)"/g)].map(([, route = ""]) => route);
    const wanted = [...both.matchAll(/\broute=~\\?"(.+?)\\?"/g)].map(([, form]) => `${form}`);
    expect(wanted).toHaveLength(3);
    const unmet = wanted.filter((form) => !routes.some((one) => RegExp(`^(?:${form})$`).test(one)));
    expect(unmet).toEqual([]);
  });
});

describe("D-10.8 Grafana", () => {
  const FILE = join(MONITORING, "grafana-dashboard.json");

  test.skipIf(!hasTool("python3"))("the dashboard is read by Grafana's own library", () => {
    const { text } = runTool("python3", ["-c", READ_DASHBOARD, FILE]);
    expect(text).toBe("repsync: 22 panels\n");
  });

  test.skipIf(!hasTool("promtool"))(
    "every query of the dashboard is one that Prometheus takes",
    () => {
      const { panels } = JSON.parse(read(FILE)) as { panels: { targets?: { expr: string }[] }[] };
      const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
      // Grafana puts a time in the place of the variable.
      const rules = queries.map((query, index) => ({
        record: `query_${index}`,
        expr: query.replaceAll("$__rate_interval", "1m"),
      }));
      const file = join(makeTempFolder(), "queries.yml");
      writeFileSync(file, JSON.stringify({ groups: [{ name: "queries", rules }] }));
      expect(queries.length).toBeGreaterThan(15);
      expect(runTool("promtool", ["check", "rules", file]).text).toContain(`${rules.length} rules`);
    },
  );
});

const READ_DASHBOARD = `
import json, sys
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.models import dashboard
plugins.register_default_plugins()
read = dashboard.Dashboard.from_json(json.load(open(sys.argv[1])))
print(f"{read.title}: {len(read.panels)} panels")
`;

function read(path: string): string {
  return readFileSync(path, "utf8");
}

/** A copy of a folder of docs/deploy, so that secrets stay out of the repository. */
function copyOf(name: string): string {
  const folder = makeTempFolder();
  cpSync(join(DEPLOY, name), folder, {
    recursive: true,
    filter: (path) => !path.endsWith("secrets"),
  });
  return folder;
}

/** Fails for names that are no settings, but for those that begin with one of `others`. */
function expectSettings(found: Iterable<RegExpMatchArray>, others: readonly string[] = []): void {
  const names = [...found].map(([, one, two]) => one ?? two ?? "");
  const unknown = names.filter(
    (name) =>
      !SETTINGS.has(name) &&
      !SETTINGS.has(name.replace(/_FILE$/, "")) &&
      !others.some((other) => name.startsWith(other)),
  );
  expect(names.length).toBeGreaterThan(2);
  expect(unknown).toEqual([]);
}
