import { useRef, useState } from "preact/hooks";
import type { AuditItem, AuditVerificationEvent } from "../api/interface.ts";
import { readEventStream } from "../api/request.ts";
import { RequestError } from "../api/request-error.ts";
import { ActionButton, CopyButton, ErrorNote } from "../components/buttons.tsx";
import { DataTable } from "../components/data-table.tsx";
import { NAME_HINTS } from "../components/form.tsx";
import { type ListDescription, ListPage } from "../components/list-page.tsx";
import { Card, EmptyState, Loaded, ProgressBar, StatusBadge } from "../components/notes.tsx";
import { counted, localText, TimeText, utcText } from "../components/text.tsx";
import { useAction, useLeaving } from "../state/use-service.ts";

/** Typed in local time, in the address in UTC. */
const TIME = { type: "datetime-local", toAddress: utcText, fromAddress: localText } as const;

const RECORDS: ListDescription<"get /v1/admin/audit"> = {
  from: "get /v1/admin/audit",
  caption: "Records of the audit log",
  isCaptionHidden: true,
  limit: 50,
  filters: [
    { name: "account", label: "Account", hints: { ...NAME_HINTS, maxLength: 200 } },
    { name: "from", label: "From", ...TIME },
    { name: "until", label: "Until", ...TIME },
  ],
  keyOf: ({ id }) => id,
  columns: [
    {
      title: "At",
      isHeader: true,
      cell: ({ at }) => (
        <span class="no-wrap">
          <TimeText at={at} />
        </span>
      ),
    },
    { title: "What", cell: ({ kind, purpose, action }) => `${kind}: ${purpose ?? action ?? ""}` },
    { title: "By", cell: (item) => <Caller item={item} /> },
    {
      title: "About",
      cell: ({ subject }) => (subject === null ? "not in the log" : <bdi>{subject}</bdi>),
    },
    {
      title: "Outcome",
      cell: ({ decision, code }) => (
        <StatusBadge tone={decision === "allowed" ? "good" : "warning"} text={code ?? decision} />
      ),
    },
    {
      title: "Request",
      cell: ({ request_id }) => (
        <code>
          <bdi>{request_id}</bdi>
        </code>
      ),
    },
  ],
  empty: ["No record is found here", "Choose another account or time; Next looks further back."],
};

/** The audit log: its verification, its heads, and its records by account or time. D-9.4. */
export function AuditPage() {
  return (
    <>
      <VerifyLog />
      <h2>Records</h2>
      <ListPage list={RECORDS} />
    </>
  );
}

function Caller({ item: { account, kind } }: { readonly item: AuditItem }) {
  if (account !== "") return <bdi>{account}</bdi>;
  return <>{kind === "admin" ? "command line, or erased" : "erased"}</>;
}

type Done = Extract<AuditVerificationEvent, { readonly type: "done" }>;

function VerifyLog() {
  const [records, setRecords] = useState(0);
  const [result, setResult] = useState<Done | null>(null);
  const underWay = useRef(new AbortController());
  const left = useLeaving();
  const { run, isBusy, error } = useAction(async () => {
    underWay.current = new AbortController();
    const signal = AbortSignal.any([underWay.current.signal, left]);
    setRecords(0);
    setResult(null);
    const read = verified(signal, setRecords);
    setResult(
      await read.catch((failure) => {
        if (signal.aborted) return null;
        throw failure;
      }),
    );
  });

  return (
    <Card
      title="Is it whole?"
      beside={
        isBusy ? (
          <ActionButton onPress={() => underWay.current.abort()}>Cancel</ActionButton>
        ) : (
          <ActionButton look="main" onPress={() => void run()}>
            Verify
          </ActionButton>
        )
      }
    >
      <ErrorNote error={error} />
      {isBusy && (
        <ProgressBar
          label="Verifying"
          done={records}
          total={null}
          text={counted(records, "record")}
        />
      )}
      {!isBusy && result === null && error === null && (
        <p>
          Every record contains the hash of the one before, and each chain has a signed head.
          Verifying reads all of it.
        </p>
      )}
      {result !== null && <Verdict result={result} />}
      <Heads />
    </Card>
  );
}

/** Throws `RequestError`. */
async function verified(signal: AbortSignal, tell: (records: number) => void): Promise<Done> {
  let result: Done | null = null;
  for await (const event of readEventStream("post /v1/admin/audit/verify", { signal })) {
    if (event.type === "progress") tell(event.records);
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
  return (
    <details>
      <summary>Heads</summary>
      <p>
        Keep them on another machine: with them a log that was cut or removed is found, even with
        all that the store knows of it.
      </p>
      <Loaded from="get /v1/admin/audit/heads" name="the heads">
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
              <a href="/v1/admin/audit/heads" download="audit-heads.json">
                Save as file
              </a>
            </div>
          </>
        )}
      </Loaded>
    </details>
  );
}
