// The sections of the page, from the verdict to the environment.
import type { ComponentChildren } from "preact";
import type { Bar, Cell, Compared, Finding, Point, Probe, Report, Table } from "./data";
import { HeatFigure } from "./heat";
import { Ask, Reference } from "./links";
import { PlotFigure } from "./plot";

type Labels = Record<string, string>;

/** Beside the words, for the eye that does not tell colours apart. */
const SIGNS: Record<string, string> = {
  green: "✓",
  amber: "!",
  red: "✕",
  unseen: "–",
  good: "✓",
  warning: "!",
  error: "✕",
  bad: "✕",
  hint: "i",
  unknown: "?",
};
const TONES: Record<string, string> = {
  good: "green",
  warning: "amber",
  bad: "red",
  error: "red",
  hint: "unseen",
  unknown: "unseen",
};

function Sign({ state, labels }: { state: string; labels: Labels }) {
  return (
    <span class={`sign ${TONES[state] ?? state}`} role="img" aria-label={labels[state]} title={labels[state]}>
      {SIGNS[state]}
    </span>
  );
}

function Section({
  title,
  about,
  children,
}: {
  title: string | undefined;
  about?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <section>
      <h2>{title}</h2>
      {about !== undefined && <p class="about">{about}</p>}
      {children}
    </section>
  );
}

export function ReportPage({ report }: { report: Report }) {
  const { labels, verdict } = report;
  return (
    <>
      <header class={`verdict ${TONES[verdict.state] ?? ""}`}>
        <Sign state={verdict.state} labels={labels} />
        <div>
          <h1>{report.title}</h1>
          <p>{verdict.text}</p>
        </div>
      </header>
      <Section title={labels["findings"]}>
        {report.findings.length === 0 && <p>{labels["nothing_found"]}</p>}
        {report.findings.map((finding) => (
          <FindingCard finding={finding} labels={labels} />
        ))}
      </Section>
      <Section title={labels["probes"]} about={labels["probes_about"]}>
        {report.probes.map((probe) => (
          <ProbeCard probe={probe} labels={labels} />
        ))}
        <ul class="offers">
          {report.offers.map((offer) => (
            <Ask offer={offer} labels={labels} />
          ))}
        </ul>
      </Section>
      {report.compared !== null && <ComparedSection compared={report.compared} labels={labels} />}
      <Section title={labels["checklist"]} about={labels["checklist_about"]}>
        <ul class="checklist">
          {report.checklist.map((point) => (
            <PointItem point={point} labels={labels} />
          ))}
        </ul>
      </Section>
      {report.plots.length > 0 && (
        <Section title={labels["plots"]}>
          <div class="figures">
            {report.plots.map((plot) => (
              <PlotFigure plot={plot} labels={labels} />
            ))}
          </div>
        </Section>
      )}
      {report.maps.length > 0 && (
        <Section title={labels["layers"]}>
          <div class="figures">
            {report.maps.map((map) => (
              <HeatFigure map={map} labels={labels} />
            ))}
          </div>
        </Section>
      )}
      {report.bars.length > 0 && (
        <Section title={labels["shares"]}>
          <div class="figures">
            {report.bars.map((bar) => (
              <BarFigure bar={bar} />
            ))}
          </div>
        </Section>
      )}
      {report.tables.map((table) => (
        <Section title={table.title}>
          <TableOf table={table} labels={labels} />
        </Section>
      ))}
      <Section title={labels["environment"]}>
        <dl>
          {report.environment.map(([name, text]) => (
            <>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </>
          ))}
        </dl>
      </Section>
    </>
  );
}

function FindingCard({ finding, labels }: { finding: Finding; labels: Labels }) {
  return (
    <article class={`finding ${TONES[finding.severity] ?? ""}`}>
      <h3>
        <Sign state={finding.severity} labels={labels} /> {finding.message}
      </h3>
      <p class="meta">
        {finding.place !== null && <Reference place={finding.place} />} <code>{finding.code}</code>{" "}
        {finding.name}
      </p>
      {finding.lines.length > 0 && (
        <pre>
          {finding.lines.map((line) => (
            <span class={line.here ? "line here" : "line"}>
              <span class="number">{line.number}</span>
              {line.text}
            </span>
          ))}
        </pre>
      )}
      {finding.operands.length > 0 && <p class="operands">{finding.operands.join(" · ")}</p>}
      {finding.related.length > 0 && (
        <ul class="related">
          {finding.related.map((related) => (
            <li>
              {related.place !== null && <Reference place={related.place} />} {related.message}
            </li>
          ))}
        </ul>
      )}
      {finding.fixes.map((fix) => (
        <p class="fix">
          <b>{labels["fix"]}:</b> {fix.title} {fix.verified && <em>({labels["verified"]})</em>}
        </p>
      ))}
    </article>
  );
}

function ProbeCard({ probe, labels }: { probe: Probe; labels: Labels }) {
  return (
    <article class={`finding ${TONES[probe.state] ?? ""}`}>
      <h3>
        <Sign state={probe.state} labels={labels} /> {probe.message}
      </h3>
      <p class="meta">
        {probe.place !== null && probe.finding === null && <Reference place={probe.place} />}{" "}
        <code>{probe.kind}</code> {probe.verdict}
      </p>
      {probe.details.map((text) => (
        <p>{text}</p>
      ))}
      {probe.related.length > 0 && (
        <ul class="related">
          {probe.related.map((related) => (
            <li>
              {related.place !== null && <Reference place={related.place} />} {related.message}
            </li>
          ))}
        </ul>
      )}
      {probe.curve !== null && <BarFigure bar={probe.curve} />}
      {probe.finding !== null && <FindingCard finding={probe.finding} labels={labels} />}
    </article>
  );
}

function PointItem({ point, labels }: { point: Point; labels: Labels }) {
  return (
    <li>
      <Sign state={point.state} labels={labels} />
      <span class="name">{point.name}</span>
      <span class="evidence">
        {point.evidence.length === 0 && labels["unseen"]}
        {point.evidence.map((text) => (
          <span>{text}</span>
        ))}
        {point.place !== null && <Reference place={point.place} />}
      </span>
    </li>
  );
}

function BarFigure({ bar }: { bar: Bar }) {
  const highest = Math.max(...bar.parts.map((part) => part.share));
  return (
    <figure>
      <figcaption>
        <h3>{bar.title}</h3>
        <p>{bar.about}</p>
      </figcaption>
      <div class="bars">
        {bar.parts.map((part) => (
          <div class="bar">
            <span class="name">{part.name}</span>
            <span class="track">
              <i style={{ width: `${(100 * part.share) / (highest || 1)}%` }} />
            </span>
            <span class="text">{part.text}</span>
          </div>
        ))}
      </div>
    </figure>
  );
}

function TableOf({ table, labels }: { table: Table; labels: Labels }) {
  return (
    <>
      <div class="table" tabIndex={0} role="region" aria-label={table.title}>
        <table>
          <thead>
            <tr>
              {table.heads.map((head, index) => (
                <th scope="col" class={table.right.includes(index) ? "right" : ""}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => (
              <tr>
                {row.map((cell, index) => (
                  <td class={table.right.includes(index) ? "right" : ""}>
                    <CellText cell={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.left_out > 0 && (
        <p>
          {table.left_out} {labels["left_out"]}
        </p>
      )}
    </>
  );
}

function CellText({ cell }: { cell: Cell }) {
  if (typeof cell === "string") {
    return <>{cell}</>;
  }
  return (
    <>
      {cell.text} {cell.place !== null && <Reference place={cell.place} />}
    </>
  );
}

function ComparedSection({ compared, labels }: { compared: Compared; labels: Labels }) {
  const { broken, numbers, versions, code } = compared;
  const same = broken.length + numbers.length + versions.length + code.length === 0;
  return (
    <Section title={labels["compared"]} about={compared.title}>
      {same && <p>{labels["nothing_changed"]}</p>}
      {broken.length > 0 && (
        <>
          <h3>{labels["broken"]}</h3>
          <ul class="broken">
            {broken.map(({ text, place }) => (
              <li>
                {text} {place !== null && <Reference place={place} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {numbers.length + versions.length > 0 && (
        <div class="table">
          <table>
            <thead>
              <tr>
                <th scope="col">{labels["numbers"]}</th>
                <th scope="col" class="right">
                  {labels["before"]}
                </th>
                <th scope="col" class="right">
                  {labels["now"]}
                </th>
                <th scope="col" class="right" />
              </tr>
            </thead>
            <tbody>
              {numbers.map((item) => (
                <tr class={item.worse ? "worse" : ""}>
                  <td>{item.name}</td>
                  <td class="right">{item.before}</td>
                  <td class="right">{item.now}</td>
                  <td class="right">{item.change}</td>
                </tr>
              ))}
              {versions.map((item) => (
                <tr>
                  <td>{item.name}</td>
                  <td class="right">{item.before}</td>
                  <td class="right">{item.now}</td>
                  <td />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {code.map((file) => (
        <>
          <h3>
            {labels["code"]}: {file.path}
          </h3>
          <pre class="diff">
            {file.lines.map((line) => (
              <span
                class={line.startsWith("+") ? "line added" : line.startsWith("-") ? "line removed" : "line"}
              >
                {line}
              </span>
            ))}
          </pre>
        </>
      ))}
    </Section>
  );
}
