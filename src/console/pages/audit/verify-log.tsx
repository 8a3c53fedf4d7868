import { useEffect, useRef, useState } from "preact/hooks";
import { readEventStream } from "../../api/event-stream.ts";
import type { AuditVerificationEvent } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { asRequestError, RequestError } from "../../api/request-error.ts";
import { useResource } from "../../api/use-resource.ts";
import { ActionButton, CopyButton } from "../../components/buttons.tsx";
import { DataTable } from "../../components/data-table.tsx";
import {
  EmptyState,
  ErrorNote,
  ProgressBar,
  ResourceView,
  StatusBadge,
} from "../../components/notes.tsx";
import { counted, TimeText } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";

type Done = Extract<AuditVerificationEvent, { readonly type: "done" }>;

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly records: number }
  | { readonly kind: "done"; readonly result: Done }
  | { readonly kind: "failed"; readonly error: RequestError };

/** Verifies the log while it tells how far it has come, and shows the heads of its chains. */
export function VerifyLog() {
  const [state, setState] = useState<State>({ kind: "idle" });
  const underWay = useRef<AbortController | null>(null);
  useEffect(() => () => underWay.current?.abort(), []);

  async function verify() {
    const controller = new AbortController();
    underWay.current = controller;
    setState({ kind: "running", records: 0 });
    try {
      setState({ kind: "done", result: await verified(controller.signal, setState) });
    } catch (failure) {
      if (controller.signal.aborted) setState({ kind: "idle" });
      else setState({ kind: "failed", error: asRequestError(failure) });
    }
  }

  return (
    <section class="card">
      <div class="card-head">
        <h2>Is it whole?</h2>
        {state.kind === "running" ? (
          <ActionButton onPress={() => underWay.current?.abort()}>Cancel</ActionButton>
        ) : (
          <ActionButton look="main" onPress={() => void verify()}>
            Verify
          </ActionButton>
        )}
      </div>
      {state.kind === "idle" && (
        <p>
          Every record contains the hash of the one before, and each chain has a signed head.
          Verifying reads all of it.
        </p>
      )}
      {state.kind === "running" && (
        <ProgressBar
          label="Verifying"
          done={state.records}
          total={null}
          text={counted(state.records, "record")}
        />
      )}
      {state.kind === "failed" && <ErrorNote error={state.error} />}
      {state.kind === "done" && <Verdict result={state.result} />}
      <Heads />
    </section>
  );
}

/** Resolves to what was found. Throws `RequestError`. */
async function verified(signal: AbortSignal, tell: (state: State) => void): Promise<Done> {
  let result: Done | null = null;
  for await (const event of readEventStream("post /v1/admin/audit/verify", { signal })) {
    if (event.type === "progress") tell({ kind: "running", records: event.records });
    if (event.type === "error") throw new RequestError(0, { detail: event.error });
    if (event.type === "done") result = event;
  }
  if (result === null) throw new RequestError(0, { detail: "The verification ended early" });
  return result;
}

function Verdict({ result: { problem, records, chains } }: { readonly result: Done }) {
  const read = `${counted(records, "record")} in ${counted(chains, "chain")}`;
  if (problem === null) {
    return (
      <p role="status">
        <StatusBadge tone="good" text="whole" /> {read}
      </p>
    );
  }
  return (
    <div role="alert" class="note bad">
      <p>
        <StatusBadge tone="bad" text="broken" /> <bdi>{problem.message}</bdi>
      </p>
      <p>
        Somebody or something changed the log. Keep a copy of the store, compare the heads that you
        kept elsewhere (<code>repsync audit verify --heads FILE</code>), and see who could write to
        it.
      </p>
    </div>
  );
}

function Heads() {
  const heads = useResource((signal) => request("get /v1/admin/audit/heads", { signal }));

  function download(text: string) {
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "audit-heads.json";
    link.click();
    URL.revokeObjectURL(url);
    say("The heads are saved: keep the file on another machine");
  }

  return (
    <details>
      <summary>Heads</summary>
      <p>
        Keep them on another machine: with them a log that was cut or removed is found, even with
        all that the store knows of it.
      </p>
      <ResourceView resource={heads} name="the heads">
        {(found) => (
          <>
            <DataTable
              caption="Heads of the chains"
              rows={found.heads}
              keyOf={({ chain_id }) => chain_id}
              columns={[
                { title: "Chain", isNumber: true, cell: ({ chain_number }) => chain_number },
                { title: "Records", isNumber: true, cell: ({ seq }) => seq.toLocaleString() },
                { title: "Last at", cell: ({ at }) => <TimeText at={at} /> },
                { title: "Hash", cell: ({ hash }) => <code>{hash.slice(0, 16)}…</code> },
              ]}
              empty={<EmptyState title="Nothing is in the log yet" />}
            />
            <div class="actions">
              <CopyButton of="the heads" text={() => JSON.stringify(found)} />
              <ActionButton onPress={() => download(JSON.stringify(found))}>
                Save as file
              </ActionButton>
            </div>
          </>
        )}
      </ResourceView>
    </details>
  );
}
