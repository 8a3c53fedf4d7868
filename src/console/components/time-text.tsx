const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time of the service, local, with UTC when pointed at; `none` stands for null. */
export function TimeText({
  at,
  none = "never",
}: {
  /** ISO 8601. */
  readonly at: string | null;
  readonly none?: string;
}) {
  if (at === null) return <>{none}</>;
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return <bdi class="value">{at}</bdi>;
  return (
    <time dateTime={time.toISOString()} title={utcOf(time)}>
      {LOCAL.format(time)}
    </time>
  );
}

function utcOf(time: Date): string {
  return `${time.toISOString().replace("T", " ").slice(0, 19)} UTC`;
}
