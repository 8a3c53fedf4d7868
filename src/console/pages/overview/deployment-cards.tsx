import type { Overview } from "../../api/interface.ts";
import { durationText } from "../../components/numbers.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";

/** Health, synchronization, remote and schedule, each with what to do where something is missing. */
export function DeploymentCards({ overview }: { readonly overview: Overview }) {
  const { health, remote, schedule } = overview;
  return (
    <div class="cards">
      <section class="card" aria-labelledby="health">
        <h2 id="health">Service</h2>
        <p>
          <StatusBadge tone={health.status === "ok" ? "good" : "bad"} text={health.status} />
        </p>
        {health.db !== "ok" && <p>The store does not answer. Check the database.</p>}
        {overview.sync_enabled ? (
          <p>Synchronization is enabled</p>
        ) : (
          <p>
            Synchronization is disabled. Set <code>SYNC_ENABLED=true</code> and{" "}
            <code>SYNC_API_KEY</code>, and start the service again.
          </p>
        )}
      </section>
      <section class="card" aria-labelledby="remote">
        <h2 id="remote">Remote</h2>
        <Remote remote={remote} />
      </section>
      <section class="card" aria-labelledby="schedule">
        <h2 id="schedule">Schedule</h2>
        <Schedule schedule={schedule} />
      </section>
    </div>
  );
}

function Remote({ remote: { url, reachable, error } }: Pick<Overview, "remote">) {
  if (url === null) {
    return (
      <p>
        There is none. Set <code>SYNC_REMOTE_URL</code> to the address of the other deployment, and{" "}
        <code>SYNC_REMOTE_KEY</code> to its key.
      </p>
    );
  }
  return (
    <>
      <p>
        <StatusBadge
          tone={reachable ? "good" : "bad"}
          text={reachable ? "reachable" : "out of reach"}
        />
      </p>
      <p>
        <bdi class="value">{url}</bdi>
      </p>
      {error !== null && (
        <p>
          <bdi class="value">{error}</bdi>. Check the remote and <code>SYNC_REMOTE_URL</code>.
        </p>
      )}
    </>
  );
}

function Schedule({ schedule: { cron, next_at: nextAt } }: Pick<Overview, "schedule">) {
  if (cron === null) {
    return (
      <p>
        There is none. Set <code>SYNC_SCHEDULE</code>, such as <code>*/5 * * * *</code>, or{" "}
        <a href="/console/runs">start a run</a> by hand.
      </p>
    );
  }
  return (
    <>
      <p>
        <code>{cron}</code>
      </p>
      {nextAt !== null && (
        <p>
          Next run at <TimeText at={nextAt} />, in{" "}
          {durationText(Math.max(0, Date.parse(nextAt) - Date.now()))}
        </p>
      )}
    </>
  );
}
