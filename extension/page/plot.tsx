// A plot of numbers over the steps, drawn by uPlot.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Line, Plot } from "./data";
import { colour, onTheme } from "./theme";

const COLOURS = 6;
const HEIGHT = 220;
/** An ambient enum has no value at run time. */
const LOGARITHMIC = 3 as unknown as uPlot.Scale.Distr;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function PlotFigure({ plot, labels }: { plot: Plot; labels: Record<string, string> }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = holder.current;
    if (element === null) {
      return undefined;
    }
    const width = () => Math.max(240, element.clientWidth);
    const drawn = new uPlot(options(plot, labels, width()), table(plot.series), element);
    const resized = new ResizeObserver(() => {
      drawn.setSize({ width: width(), height: HEIGHT });
    });
    resized.observe(element);
    const forget = onTheme(() => {
      drawn.redraw(false, true);
    });
    return () => {
      resized.disconnect();
      forget();
      drawn.destroy();
    };
  }, [plot]);
  const bad = plot.series.filter((line) => line.bad > 0);
  return (
    <figure>
      <figcaption>
        <h3>{plot.title}</h3>
        <p>
          {plot.about} {plot.logarithmic && <em>({labels["log"]})</em>}
        </p>
        {bad.map((line) => (
          <p class="notice" key={line.name}>
            {line.name}: {line.bad} × {labels["not_finite"]}
            {line.first_bad !== null && `, ${labels["step_axis"] ?? ""} ${line.first_bad}`}
          </p>
        ))}
      </figcaption>
      <div
        class="plot"
        ref={holder}
        role="img"
        aria-label={`${plot.title}: ${plot.series.map(said).join("; ")}`}
      />
    </figure>
  );
}

/** The course of a line in words, for who does not see it. */
function said(line: Line): string {
  const known = line.points.map(([, value]) => value).filter((value) => value !== null);
  return `${line.name} ${short(known[0] ?? null)} → ${short(known.at(-1) ?? null)}`;
}

function table(series: Line[]): uPlot.AlignedData {
  const tables = series.map(
    ({ points }) => [points.map(([step]) => step), points.map(([, value]) => value)] as uPlot.AlignedData,
  );
  return uPlot.join(tables);
}

function options(plot: Plot, labels: Record<string, string>, width: number): uPlot.Options {
  const numbers = plot.unit === "bytes" ? bytes : short;
  const axis = (): uPlot.Axis => ({
    stroke: () => colour("--quiet"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
  });
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: false }, y: plot.logarithmic ? { distr: LOGARITHMIC, log: 10 } : {} },
    axes: [
      { ...axis(), values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? String(mark) : "")) },
      {
        ...axis(),
        size: plot.unit === "bytes" ? 84 : 64,
        values: (_, marks) => marks.map((mark) => ((mark as number | null) === null ? "" : numbers(mark))),
      },
    ],
    series: [
      { label: labels["step_axis"] ?? "" },
      ...plot.series.map((line, index): uPlot.Series => ({
        label: line.before === true ? `${line.name} (${labels["before"] ?? ""})` : line.name,
        stroke: () => colour(line.before === true ? "--quiet" : `--series-${(index % COLOURS) + 1}`),
        width: line.before === true ? 1 : 2,
        ...(line.before === true ? { dash: [5, 4] } : {}),
        spanGaps: line.bad === 0,
        points: { show: line.points.length < 3 },
        value: (_, value) => ((value as number | null) === null ? "–" : numbers(value)),
      })),
    ],
    legend: { live: true },
    cursor: { drag: { x: true, y: false } },
  };
}

export function short(value: number | null): string {
  if (value === null) {
    return "–";
  }
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential(1)
    : String(Number(value.toPrecision(3)));
}

function bytes(value: number): string {
  let [rest, unit] = [value, 0];
  while (Math.abs(rest) >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${Number(rest.toPrecision(4))} ${UNITS[unit] ?? ""}`;
}
