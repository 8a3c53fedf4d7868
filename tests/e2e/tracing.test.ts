// Traces as a collector gets them. D-10.9.
import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { ADMIN_ENV, jsonBody, lookUp, Person } from "../http/reputation/people.ts";
import { onEveryBackend } from "../http/support/backends.ts";
import { requestText, SYNC_KEY } from "../http/support/sync-app.ts";
import { type OtlpReceiver, type ReceivedSpan, startReceiver } from "../support/otlp-receiver.ts";
import { type ServiceProcess, startService } from "./support/service-process.ts";

const TRACE = "0123456789abcdef0123456789abcdef";
const CALLER = "fedcba9876543210";
const SAMPLED = { traceparent: `00-${TRACE}-${CALLER}-01` };
const LEAVING = ["Content-Length: 1000", "Expect: 100-continue"];
const PASSED = { traceparent: `00-${TRACE}-${CALLER}-00` };

async function startTraced(
  receiver: OtlpReceiver,
  env: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: "50" };
  return await startService({ env: { ...ADMIN_ENV, ...traced, ...env } });
}

/** Names from a span up to where its trace began, the kinds before them. */
function pathOf(receiver: OtlpReceiver, span: ReceivedSpan): readonly string[] {
  const above = receiver.spans.find(({ spanId }) => spanId === span.parentId);
  const text = `${span.kind} ${span.service} ${span.name}`;
  return above === undefined ? [text] : [text, ...pathOf(receiver, above)];
}

const ofTrace = ({ spans }: OtlpReceiver, traceId: string) =>
  spans.filter((span) => span.traceId === traceId);

onEveryBackend("traces", (backend) => {
  const system = { MongoDB: "mongodb", PostgreSQL: "postgresql" }[backend.name] ?? "sqlite";

  test("D-10.9 a lookup is a trace of request, use case and store, which goes on with the caller's and names nobody", async () => {
    const receiver = startReceiver();
    const service = await startTraced(receiver, { STORAGE_URL: await backend.makeUrl() });
    const ana = await Person.signUp(service, "ana-of-the-trace");
    const key = await ana.issueKey();
    await ana.consent();
    const path = "/v1/public/profiles/ana-of-the-trace/reputation";
    const reply = await service.send(path, { headers: { "X-API-Key": key, ...SAMPLED } });
    expect(reply.status).toBe(200);
    await lookUp(service, `${key}x`, { username: "ana-of-the-trace" });
    await ana.send("/v1/nowhere/ana-of-the-trace");
    await service.stop();

    const spans = ofTrace(receiver, TRACE);
    const request = spans.find(({ kind }) => kind === "server");
    const route = "/v1/public/profiles/:username/reputation";
    expect(request).toMatchObject({
      service: "repsync",
      name: `GET ${route}`,
      parentId: CALLER,
      isFailed: false,
      fields: {
        "http.request.method": "GET",
        "http.route": route,
        "http.response.status_code": 200,
        "url.scheme": "http",
        "server.address": "127.0.0.1",
        "repsync.request_id": reply.headers.get("x-request-id") ?? "",
      },
    });
    const decided = spans.find(({ name }) => name === "lookups.decide");
    expect(decided?.fields).toEqual({ "db.system.name": system, "db.operation.name": "transact" });
    if (decided === undefined) throw new Error("There is no store call");
    expect(pathOf(receiver, decided)).toEqual([
      "client repsync lookups.decide",
      "internal repsync lookUpReputation",
      `server repsync GET ${route}`,
    ]);
    const made = receiver.spans.find(({ name }) => name === "issueApiKey");
    expect(made?.kind).toBe("internal");
    for (const secret of [key, key.slice(9), ana.token, "ana-of-the-trace", "@example.com"]) {
      expect(receiver.text()).not.toContain(secret);
    }
  });

  test("D-10.9 a run is a trace over both deployments, page by page and batch by batch", async () => {
    const receiver = startReceiver();
    const there = await startTraced(receiver, {
      STORAGE_URL: await backend.makeUrl(),
      OTEL_SERVICE_NAME: "there",
    });
    const here = await startTraced(receiver, {
      STORAGE_URL: await backend.makeUrl(),
      OTEL_RESOURCE_ATTRIBUTES: "service.name=here,deployment.environment.name=test",
      SYNC_REMOTE_URL: there.url,
      SYNC_REMOTE_KEY: SYNC_KEY,
    });
    await here.push("versions", { records: [{ name: "a", at: "2026-01-01" }] });
    await there.push("versions", { records: [{ name: "b", at: "2026-01-02" }] });
    const root = await Person.signIn(here, "root");
    const body = jsonBody({ direction: "both", table: "versions" });
    const reply = await root.send("/api/v1/sync/trigger", {
      ...body,
      headers: { ...body.headers, ...SAMPLED },
    });
    expect(reply.json).toMatchObject({ status: "success" });
    await Promise.all([here.stop(), there.stop()]);

    const spans = ofTrace(receiver, TRACE);
    const run = [
      "internal here syncRun",
      "internal here triggerSync",
      "server here POST /api/v1/sync/trigger",
    ];
    const pathTo = (name: string) => {
      const found = spans.find((span) => span.service === "there" && span.name === name);
      if (found === undefined) throw new Error(`There is no ${name}`);
      return pathOf(receiver, found);
    };
    expect(pathTo("rows.write")).toEqual([
      "client there rows.write",
      "internal there pushRecords",
      "server there POST /api/v1/sync/push/:table_name",
      "client here POST /api/v1/sync/push",
      "internal here pushBatch",
      "internal here pushTable",
      ...run,
    ]);
    expect(pathTo("pullPage").slice(0, 5)).toEqual([
      "internal there pullPage",
      "server there GET /api/v1/sync/pull/:table_name",
      "client here GET /api/v1/sync/pull",
      "internal here pullPage",
      "internal here pullTable",
    ]);
    const table = spans.find(({ name }) => name === "pullTable");
    expect(table?.fields).toEqual({ "repsync.table": "versions" });
    const sent = spans.find(({ name }) => name === "POST /api/v1/sync/push");
    expect(sent?.fields).toMatchObject({
      "http.request.method": "POST",
      "http.response.status_code": 200,
      "url.full": `${there.url}/api/v1/sync/push/versions`,
      "server.address": "127.0.0.1",
    });
    // What goes on in the background is in no trace.
    expect(spans.filter(({ name }) => name === "runs.cancellation")).toEqual([]);
    expect(receiver.text()).not.toContain(SYNC_KEY);
  });
});

test("D-10.9 what the caller does not want, or this service's rate does not allow, is not sent", async () => {
  const receiver = startReceiver();
  const [plain, none, disabled, half] = await Promise.all([
    startTraced(receiver),
    startTraced(receiver, {
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0",
    }),
    startTraced(receiver, { OTEL_SDK_DISABLED: "true" }),
    startTraced(receiver, {
      OTEL_SERVICE_NAME: "half",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.5",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=from%20here",
    }),
  ]);
  await plain.send("/v1/health/live", { headers: PASSED });
  await none.send("/v1/health/live", { headers: SAMPLED });
  await disabled.send("/v1/health/live", { headers: SAMPLED });
  // A trace id that every rate keeps, again and again.
  const chosen = { traceparent: `00-${"0".repeat(31)}1-${CALLER}-01` };
  for (let i = 0; i < 40; i++) await half.send("/v1/health/live", { headers: chosen });
  await Promise.all([plain, none, disabled, half].map((service) => service.stop()));
  expect(ofTrace(receiver, TRACE)).toEqual([]);
  const ofHalf = receiver.spans.filter(({ parentId }) => parentId === CALLER);
  expect(ofHalf.length).toBe(21);
  expect(receiver.headers.some((headers) => headers.get("api-key") === "from here")).toBeTrue();
});

test("D-10.9 refused, failed and aborted requests end their spans, and streams do when they end", async () => {
  const receiver = startReceiver();
  const there = await startService();
  const service = await startTraced(receiver, {
    SYNC_REMOTE_URL: there.url,
    SYNC_REMOTE_KEY: SYNC_KEY,
    CORS_ORIGINS: "https://app.example",
  });
  const replies = [
    await service.pull("no-such-table"),
    await service.send("/api/v1/sync/pull/notes"),
    await service.push("notes", "no JSON"),
    await service.send("/v1/me", { method: "OPTIONS", headers: { Origin: "https://app.example" } }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([400, 401, 200, 405]);

  // A client that leaves while its body is on its way.
  const head = requestText("POST /api/v1/sync/push/notes", LEAVING, '{"rec');
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.write(head);
  // The service has begun to answer once it says to go on.
  await once(socket, "data");
  socket.destroy();

  // One that leaves its stream, and one that reads it to the end.
  const root = await Person.signIn(service, "root");
  const trigger = (signal?: AbortSignal) =>
    fetch(`${service.url}/api/v1/sync/trigger-sse`, {
      method: "POST",
      headers: { Authorization: `Bearer ${root.token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ table: "notes" }),
      ...(signal === undefined ? {} : { signal }),
    });
  const leaving = new AbortController();
  const left = await trigger(leaving.signal);
  leaving.abort();
  await left.text().catch(() => {});
  expect(await (await trigger()).text()).toContain('"finished"');

  const streams = () =>
    receiver.spans.filter(({ name }) => name === "POST /api/v1/sync/trigger-sse");
  while (streams().length < 2) await receiver.next();
  const pushes = () =>
    receiver.spans.filter(({ name }) => name === "POST /api/v1/sync/push/:table_name");
  while (pushes().length < 2) await receiver.next();
  await service.stop();
  const statusOf = (name: string) =>
    receiver.spans
      .filter((span) => span.name === name)
      .map(({ fields, isFailed }) => [fields["http.response.status_code"], isFailed]);
  expect(statusOf("GET /api/v1/sync/pull/:table_name")).toEqual([
    [400, false],
    [401, false],
  ]);
  expect(statusOf("OPTIONS /v1/me")).toEqual([[405, false]]);
  const refused = receiver.spans.find(({ name }) => name === "pullPage");
  expect([refused?.fields["error.type"], refused?.isFailed]).toEqual(["unknown_table", false]);
});

test("D-10.9 a collector that is not there costs a line in the log, no request and no stop", async () => {
  const receiver = startReceiver();
  receiver.stop();
  const service = await startTraced(receiver, { LOG_LEVEL: "warn" });
  for (let i = 0; i < 5; i++) {
    expect((await service.send("/v1/health/ready")).status).toBe(200);
  }
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.stderr().split("Traces cannot be sent").length - 1).toBeLessThanOrEqual(1);
  expect(service.stderr().split("\n").length).toBeLessThanOrEqual(2);
});
