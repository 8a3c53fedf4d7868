// Stamps the rows that other programs write to a stamped table, and whose time they leave alone: a trigger sets it before the
// row is written, by what the row and the tombstone of its key had (`stampFate`). It is silent while repsync writes. A new
// row looks for one of its key too, which `on conflict do update` is about to change. D-14.2.
import { quoted } from "../driver/sql.ts";
import type { Layout } from "./layout.ts";
import { IS_OTHERS, NOW_AND_AHEAD, sameKey, timeText } from "./trigger-sql.ts";

/** Makes the trigger of a table, or drops it. */
export function stampTriggerText(layout: Layout): string {
  const { name, short, table } = layout;
  const drop = `drop trigger if exists repsync_stamp on ${name};`;
  if (!table.stamped) return drop;
  const call = `repsync.${quoted(`_stamp_${short}`)}()`;
  const at = quoted(table.timestampColumn ?? "");
  const seen = [
    `select ${timeText(layout, "old")} as at`,
    `select ${timeText(layout, "t")} from ${name} as t where ${sameKey(layout, "t", "new")}`,
  ];
  if (table.deletes) {
    seen.push(
      `select d.deleted_at from ${layout.deleted} as d where ${sameKey(layout, "d", "new")}`,
    );
  }
  return `create or replace function ${call} returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare ${NOW_AND_AHEAD}
begin
  if tg_op = 'UPDATE' and new.${at} is null then new.${at} = old.${at};
  elsif new.${at} is distinct from old.${at} then return new;
  end if;
  if tg_op = 'UPDATE' and new *= old then return new; end if;
  select greatest(repsync_now, max(seen.at) + interval '1 microsecond') into new.${at}
    from (${seen.join(" union all ")}) as seen where seen.at <= repsync_ahead;
  return new;
end $body$;
${drop}
create trigger repsync_stamp before insert or update on ${name} for each row when (${IS_OTHERS}) execute function ${call};
alter table ${name} enable always trigger repsync_stamp;`;
}
