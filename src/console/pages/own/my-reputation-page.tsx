import { useState } from "preact/hooks";
import { MAX_SCORE, MAX_STAR_LEVEL } from "../../../domain/shared/limits.ts";
import type { Explanation } from "../../api/interface.ts";
import { ErrorNote } from "../../components/buttons.tsx";
import { CheckField } from "../../components/form.tsx";
import { Card, EmptyState, Loaded } from "../../components/notes.tsx";
import { counted, LongText, TimeText } from "../../components/text.tsx";
import { change, useAction } from "../../state/use-service.ts";

/** The score, how it came about, and whether it is public. D-9.4.10. */
export function MyReputationPage() {
  return (
    <Loaded from="get /v1/me/reputation" name="your reputation" missing={NO_PROFILE}>
      {(explanation) => (
        <>
          <div class="cards">
            <Score explanation={explanation} />
            <Loaded from="get /v1/me/profile" name="your profile">
              {(own) => <Visibility isPublic={own.public} />}
            </Loaded>
          </div>
          {explanation.points.length === 0 ? NO_PLATFORMS : <HowItCame explanation={explanation} />}
        </>
      )}
    </Loaded>
  );
}

function Score({ explanation }: { readonly explanation: Explanation }) {
  const { score, star_level: stars, points, updated_at: updatedAt } = explanation;
  return (
    <Card title="Score">
      <p class="figure quiet">
        <strong>{score}</strong> of {MAX_SCORE}
      </p>
      <p>
        <span class="stars" aria-hidden="true">
          {"★".repeat(stars)}
          {"☆".repeat(MAX_STAR_LEVEL - stars)}
        </span>{" "}
        {stars} of {MAX_STAR_LEVEL} stars
      </p>
      <p class="quiet">
        From {counted(points.length, "verified platform")}. What it is computed from changed last on{" "}
        <TimeText at={updatedAt} />
      </p>
    </Card>
  );
}

function Visibility({ isPublic }: { readonly isPublic: boolean }) {
  const [wanted, setWanted] = useState<boolean | null>(null);
  const { run, error } = useAction(() => {
    const done = isPublic ? "Your profile is hidden now" : "Your profile is public now";
    return change("patch /v1/me/profile", { body: { public: !isPublic } }, done);
  });

  async function toggle() {
    setWanted(!isPublic);
    await run();
    setWanted(null);
  }

  return (
    <Card title="Visibility">
      <ErrorNote error={error} />
      <CheckField
        label="Public"
        isChecked={wanted ?? isPublic}
        onChecked={() => void toggle()}
        hint={
          isPublic
            ? "Whom you gave consent can look you up."
            : "Nobody can look you up: your profile is not found, whatever you consented to."
        }
      />
      <p>
        <a href="/console/consents">Decide who may look</a> ·{" "}
        <a href="/console/accesses">See who looked</a> ·{" "}
        <a href="/console/settings">Change your profile</a>
      </p>
    </Card>
  );
}

function HowItCame({ explanation }: { readonly explanation: Explanation }) {
  const { score, points, score_version: version } = explanation;
  const sorted = points.toSorted((a, b) => b.points - a.points);
  const [most] = sorted;
  return (
    <>
      <PointBars points={sorted} score={score} />
      <section class="prose">
        <h2>How it came about</h2>
        {most !== undefined && most.points > 0 && (
          <p>
            Of your {score} points, {most.points.toFixed(2)} come from{" "}
            <LongText text={most.platform} maxChars={PLATFORM_CHARS} />
            {sorted.length > 1 && `, and the rest from ${counted(sorted.length - 1, "other")}`}. The
            points of a platform are its share of the score, so all of them sum to it.
          </p>
        )}
        <p>
          An account elsewhere counts once it is verified as yours: more the older it is, the more
          you did there, and the better others rated it. Several of one kind add less and less, and
          one made just now counts little. Proven disputes take away, for a year.
        </p>
        <p>
          The score looks at nothing else: no name, no place, no followers. It is computed by the
          formula <code>{version}</code>, the same for everybody.
        </p>
      </section>
    </>
  );
}

interface PointBarsProps {
  readonly points: readonly Pick<Explanation["points"][number], "platform" | "points">[];
  readonly score: number;
}

/** The most shown characters of a platform, as others write its name. */
const PLATFORM_CHARS = 40;

/** Points as bars: each begins where the one before ends, and the last is the score. */
export function PointBars({ points, score }: PointBarsProps) {
  const share = (part: number) => `${(part / MAX_SCORE) * 100}%`;
  let end = 0;
  const bars = points.map(({ platform, points: value }) => {
    end += value;
    return { label: platform, start: end - value, value, text: value.toFixed(2) };
  });
  const sum = { label: "Score", start: 0, value: score, text: score.toLocaleString() };
  return (
    <figure class="card bars">
      <figcaption>Points by platform</figcaption>
      <ul>
        {[...bars, sum].map((bar) => (
          <li key={bar.label} class={bar === sum ? "bars-sum" : undefined}>
            <span>
              <LongText text={bar.label} maxChars={PLATFORM_CHARS} />
            </span>
            <span class="bars-track" aria-hidden="true">
              <span
                class="bars-bar"
                style={{ marginInlineStart: share(bar.start), width: share(bar.value) }}
              />
            </span>
            <span class="bars-value">{bar.text}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

const NO_PLATFORMS = (
  <EmptyState title="No verified platform yet">
    The score comes from your accounts on other platforms, once they are verified as yours. They
    arrive here from the service where you linked them. To look up others, you need no score:{" "}
    <a href="/console/api-keys">make an API key</a>.
  </EmptyState>
);

const NO_PROFILE = (
  <EmptyState title="This account has no profile">
    So there is no score, and nobody can look it up. To look up others, you need none:{" "}
    <a href="/console/api-keys">make an API key</a>.
  </EmptyState>
);
