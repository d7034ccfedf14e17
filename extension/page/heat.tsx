// A heat map: one row for each layer, one column for each step that was looked at.
import type { HeatMap } from "./data";
import { short } from "./plot";

const SHADES = 9;

export function HeatFigure({ map, labels }: { map: HeatMap; labels: Record<string, string> }) {
  const columns = { gridTemplateColumns: `repeat(${map.steps.length}, minmax(3px, 1fr))` };
  const bad = map.rows.some((row) => row.values.includes("bad"));
  return (
    <figure>
      <figcaption>
        <h3>{map.title}</h3>
        <p>{map.about}</p>
      </figcaption>
      <div class="heat">
        <div class="rows">
          {map.rows.map((row) => (
            <div class="row" key={row.name}>
              <span class="name" title={row.name}>
                <bdi>{row.name}</bdi>
              </span>
              <span class="cells" style={columns} role="img" aria-label={`${row.name}: ${ends(row.values)}`}>
                {row.values.map((value, index) => (
                  <i
                    class={shade(map, value)}
                    title={`${row.name}, ${labels["step_axis"] ?? ""} ${map.steps[index] ?? ""}: ${told(value, labels)}`}
                  />
                ))}
              </span>
            </div>
          ))}
        </div>
        <div class="row axis" aria-hidden="true">
          <span class="name">{labels["step_axis"]}</span>
          <span class="ends">
            <span>{map.steps[0]}</span>
            <span>{map.steps.at(-1)}</span>
          </span>
        </div>
      </div>
      <p class="scale">
        <span>{short(map.low)}</span>
        <span class="shades" aria-hidden="true">
          {Array.from({ length: SHADES }, (_, index) => (
            <i class={`shade-${index}`} />
          ))}
        </span>
        <span>
          {short(map.high)}
          {map.logarithmic && ` (${labels["log"] ?? ""})`}
        </span>
        {bad && (
          <span class="key">
            <i class="not-finite" aria-hidden="true" /> {labels["not_finite"]}
          </span>
        )}
      </p>
    </figure>
  );
}

function ends(values: HeatMap["rows"][number]["values"]): string {
  const known = values.filter((value) => typeof value === "number");
  return `${short(known[0] ?? null)} → ${short(known.at(-1) ?? null)}`;
}

function told(value: number | "bad" | null, labels: Record<string, string>): string {
  return typeof value === "number" ? short(value) : (labels[value === "bad" ? "not_finite" : "none"] ?? "");
}

function shade(map: HeatMap, value: number | "bad" | null): string {
  if (value === null) {
    return "missing";
  }
  if (value === "bad") {
    return "not-finite";
  }
  if (map.logarithmic && value <= 0) {
    return "shade-0";
  }
  const at = map.logarithmic ? Math.log : Number;
  const [low, high] = [at(map.low), at(map.high)];
  const part = high > low ? (at(value) - low) / (high - low) : 0.5;
  return `shade-${Math.min(SHADES - 1, Math.max(0, Math.floor(part * SHADES)))}`;
}
