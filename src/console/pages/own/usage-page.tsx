import { useState } from "preact/hooks";
import type { Usage } from "../../api/interface.ts";
import { CopyButton } from "../../components/buttons.tsx";
import { Field, NAME_HINTS } from "../../components/form.tsx";
import { Card, EmptyState, Loaded, ProgressBar, StatusBadge } from "../../components/notes.tsx";
import { TimeText } from "../../components/text.tsx";
import { DayBars } from "../../components/time-charts.tsx";
import { queryValue, setQuery } from "../../state/router.ts";
import { ownName } from "../../state/session.ts";

/** Share of a limit from which the page warns. */
const NEARLY = 0.8;

/** The limits of the plan, the calls of each day, and how to call. D-9.4.10. */
export function UsagePage() {
  return (
    <>
      <Loaded from="get /v1/me/usage" name="your usage" isPolled>
        {(data) => (
          <>
            <p>
              Your plan is <strong>{data.plan}</strong>. The calls of all your keys count together.
            </p>
            <div class="cards">
              {limitCard("Minute", "this minute", data.minute)}
              {limitCard("Month", "this month", data.month)}
            </div>
            <Days days={data.days} />
          </>
        )}
      </Loaded>
      <CurlLine />
    </>
  );
}

function limitCard(
  name: string,
  of: string,
  { limit, used, remaining, reset_at }: Usage["minute"],
) {
  const isSpent = remaining === 0;
  const isNear = limit !== null && used >= limit * NEARLY;
  return (
    <Card title={name}>
      {limit === null ? (
        <p>{used.toLocaleString()} calls, unlimited</p>
      ) : (
        <ProgressBar
          label={`Calls ${of}`}
          done={used}
          total={limit}
          text={`${used.toLocaleString()} of ${limit.toLocaleString()} calls`}
        />
      )}
      <p class="quiet">
        {isSpent && <StatusBadge tone="bad" text="used up" />}
        {!isSpent && isNear && <StatusBadge tone="warning" text="nearly used up" />}{" "}
        {limit !== null && used > 0 && (
          <>
            Resets at <TimeText at={reset_at} />
          </>
        )}
      </p>
    </Card>
  );
}

function Days({ days }: { readonly days: Usage["days"] }) {
  if (days.every(({ calls }) => calls === 0)) {
    return (
      <EmptyState title="No calls in the last 31 days">
        <a href="/console/api-keys">Make an API key</a>, and try the line below.
      </EmptyState>
    );
  }
  return <DayBars caption="Calls of the last 31 days, in UTC" name="Calls" days={days} />;
}

/** A shell command that looks up the person in the address of the page. */
function CurlLine() {
  const own = ownName();
  const [username, setUsername] = useState(queryValue("username") || own);
  const line = curlLine(username || own);

  function change(value: string) {
    setUsername(value);
    setQuery({ username: value === own ? "" : value }, { isReplaced: true });
  }

  return (
    <Card title="A lookup">
      <p class="prose">
        With an <a href="/console/api-keys">API key</a> in <code>$REPSYNC_API_KEY</code> this line
        works as it stands. The answer is <code>consent_required</code> as long as that person has
        given no consent.
      </p>
      <Field
        label="Username"
        hint="Whom to look up"
        value={username}
        onValue={change}
        hints={{ autocomplete: "off", ...NAME_HINTS }}
      />
      <pre class="code-line">
        <code>{line}</code>
      </pre>
      <CopyButton text={line} of="the line" />
    </Card>
  );
}

/** The name is escaped, so that it means nothing to a shell. */
function curlLine(username: string): string {
  const name = encodeURIComponent(username.toWellFormed()).replaceAll("'", "%27");
  const url = `${location.origin}/v1/public/profiles/${name}/reputation`;
  return `curl -sS -H "X-API-Key: $REPSYNC_API_KEY" '${url}'`;
}
