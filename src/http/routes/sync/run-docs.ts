// The documents of the operations on sync runs.
import { type TSchema, Type } from "@sinclair/typebox";
import {
  ADMINISTRATOR_SECURITY,
  CHALLENGE,
  jsonReply,
  jsonRequest,
  parameterDoc,
  REQUEST_ID,
} from "../../openapi.ts";
import { bodyDoc, LIST_PARAMETERS, UNAVAILABLE, WRONG_METHOD } from "../../operation-docs.ts";
import { model } from "../../schemas/parts.ts";
import {
  CompareRequest,
  CompareResult,
  ConfigError,
  RejectedList,
  Run,
  RunEvent,
  RunList,
  StreamRequest,
  SyncRunError,
  TriggerRequest,
  TriggerResult,
} from "../../schemas/runs.ts";
import { SyncError } from "../../schemas/sync.ts";

/** Failures of every operation of an administrator. D-4.1. */
const ADMINISTRATOR_FAILURES = {
  401: jsonReply("Token missing, invalid or expired", SyncError, CHALLENGE),
  403: jsonReply("Signed in, but not as an administrator", SyncError),
  405: WRONG_METHOD,
  503: UNAVAILABLE,
};

const BODY_FAILURES = {
  400: jsonReply("The body is not what it should be, or an unknown table", SyncError),
  413: jsonReply("Body too large", SyncError),
};

/** Failures of an operation that talks to the remote. S-4.4.5, S-7. */
const REMOTE_FAILURES = {
  ...BODY_FAILURES,
  400: jsonReply(
    "The body is not what it should be, an unknown table, or a configuration problem",
    Type.Union([SyncError, ConfigError]),
  ),
  500: jsonReply("Any other failure", Type.Union([SyncRunError, SyncError])),
};

function detail(operationId: string, summary: string, rest: object) {
  return { operationId, summary, tags: ["sync"], security: ADMINISTRATOR_SECURITY, ...rest };
}

function optionalBody(schema: TSchema) {
  return { ...jsonRequest(schema), required: false };
}

/** `POST /api/v1/sync/trigger`. S-4.4. */
export const TRIGGER_DETAIL = detail("triggerSync", "Run a sync and wait for its end", {
  description:
    "With `both` a table is pushed, then pulled. A client that leaves does not end the run.",
  requestBody: optionalBody(TriggerRequest),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...REMOTE_FAILURES,
    200: jsonReply("The result of the run", TriggerResult),
  },
});

/** `POST /api/v1/sync/trigger-sse`. S-4.5. */
export const STREAM_DETAIL = detail("triggerSyncStream", "Run a sync and watch it", {
  description:
    "Server-sent events, each one `data:` line of JSON; `finished` is always the last. " +
    "A comment comes when nothing else was sent for 5 seconds.",
  requestBody: bodyDoc(StreamRequest),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...BODY_FAILURES,
    500: jsonReply(
      "The service is stopping, or an internal error",
      Type.Union([SyncRunError, SyncError]),
    ),
    200: {
      description: "The events; failures of the run are among them",
      headers: {
        ...REQUEST_ID,
        "Cache-Control": { description: "Always no-cache", schema: { type: "string" } },
        "X-Accel-Buffering": { description: "Always no", schema: { type: "string" } },
      },
      content: {
        "text/event-stream": {
          schema: Type.String({ description: "Each `data:` line is an `x-event`" }),
          "x-event": RunEvent,
        },
      },
    },
  },
});

/** `GET /api/v1/sync/runs`. D-4.9. */
export const RUNS_DETAIL = detail("listSyncRuns", "List the last 1,000 runs, newest first", {
  parameters: LIST_PARAMETERS,
  responses: {
    ...ADMINISTRATOR_FAILURES,
    400: jsonReply("A bad limit or cursor", SyncError),
    200: jsonReply("A part of the list", RunList),
  },
});

/** `GET /api/v1/sync/runs/{run_id}`. D-4.9. */
export const RUN_DETAIL = detail("readSyncRun", "Read one run", {
  parameters: [idParameter("run_id", "Id of a run")],
  responses: {
    ...ADMINISTRATOR_FAILURES,
    404: jsonReply("No run has this id", SyncError),
    200: jsonReply("The run", Run),
  },
});

/** `GET /api/v1/sync/rejected`. D-4.9. */
export const REJECTED_DETAIL = detail(
  "listRejectedRecords",
  "List records that one end rejected, newest first",
  {
    description: "The next run tries them again first.",
    parameters: [
      parameterDoc("query", "table", {
        description: "Only records of this table",
        schema: { type: "string" },
      }),
      ...LIST_PARAMETERS,
    ],
    responses: {
      ...ADMINISTRATOR_FAILURES,
      400: jsonReply("Unknown table, or a bad limit or cursor", SyncError),
      200: jsonReply("A part of the list", RejectedList),
    },
  },
);

/** `DELETE /api/v1/sync/rejected/{id}`. D-4.9. */
export const DROP_REJECTED_DETAIL = detail(
  "dropRejectedRecord",
  "Drop a rejected record, so that no run tries it again",
  {
    parameters: [idParameter("id", "Id of a rejected record")],
    responses: {
      ...ADMINISTRATOR_FAILURES,
      404: jsonReply("No rejected record has this id", SyncError),
      200: jsonReply("It was dropped", model("DroppedRecord", { status: Type.Literal("dropped") })),
    },
  },
);

/** `POST /api/v1/sync/compare`. D-4.10. */
export const COMPARE_DETAIL = detail("compareTable", "Compare a table with the remote's", {
  description: "With `repair` the rows that differ are sent or fetched.",
  requestBody: bodyDoc(CompareRequest),
  responses: {
    ...ADMINISTRATOR_FAILURES,
    ...REMOTE_FAILURES,
    200: jsonReply("What was found", CompareResult),
  },
});

function idParameter(name: string, description: string) {
  return parameterDoc("path", name, { description, schema: { type: "string", minLength: 1 } });
}
