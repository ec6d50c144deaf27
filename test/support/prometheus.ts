/** A sample of a metrics page. */
export interface MetricSample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A metrics page for Prometheus. */
export interface MetricsPage {
  types: Record<string, string>;
  samples: MetricSample[];
  /** Returns the value of the only series with these labels; 0 without one. Throws if there are several. */
  value(name: string, labels?: Record<string, string>): number;
  /** Returns the sum of all series with this name and these labels. */
  sum(name: string, labels?: Record<string, string>): number;
}

const nameForm = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const sampleLine = new RegExp(`^(${nameForm})(?:\\{(.*)\\})? (\\S+)$`);
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/y;

/**
 * Parses the text format 0.0.4 strictly. Every line is a heading or a sample; a name has one HELP and one TYPE directly
 * above its samples; no series appears twice; counters end in `_total`; the buckets of a histogram increase up to its
 * count. Throws for any violation.
 */
export function parseMetrics(text: string): MetricsPage {
  if (!text.endsWith("\n")) throw new Error("The page does not end with a line break.");
  const types: Record<string, string> = {};
  const helped = new Set<string>();
  const samples: MetricSample[] = [];
  const series = new Set<string>();
  let family = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (helped.has(name)) throw new Error(`Two HELP of ${name}.`);
      helped.add(name);
      family = name;
    } else if (kind === "TYPE") {
      if (name !== family || types[name]) throw new Error(`TYPE out of place: ${line}`);
      if (!["counter", "gauge", "histogram"].includes(rest)) throw new Error(`No such type: ${line}`);
      types[name] = rest;
    } else {
      const sample = parseSample(line);
      const base = types[family] === "histogram" ? sample.name.replace(/_(bucket|sum|count)$/, "") : sample.name;
      if (base !== family) throw new Error(`A sample below another heading: ${line}`);
      const id = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
      if (series.has(id)) throw new Error(`A series twice: ${line}`);
      series.add(id);
      samples.push(sample);
    }
  }
  checkTypes(types, samples);
  const find = (name: string, labels: Record<string, string>) =>
    samples.filter(
      (one) => one.name === name && Object.entries(labels).every(([key, text]) => one.labels[key] === text),
    );
  return {
    types,
    samples,
    value(name, labels = {}) {
      const found = find(name, labels);
      if (found.length > 1) throw new Error(`${found.length} series of ${name} with ${JSON.stringify(labels)}`);
      return found[0]?.value ?? 0;
    },
    sum: (name, labels = {}) => find(name, labels).reduce((sum, { value }) => sum + value, 0),
  };
}

function parseSample(line: string): MetricSample {
  const [, name, inBraces, number] = sampleLine.exec(line) ?? [];
  if (name === undefined || number === undefined) throw new Error(`No sample: ${line}`);
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
  if (Number.isNaN(value)) throw new Error(`No number: ${line}`);
  const labels: Record<string, string> = {};
  labelForm.lastIndex = 0;
  for (let at = 0; at < (inBraces ?? "").length; at = labelForm.lastIndex) {
    const [, label, text] = labelForm.exec(inBraces ?? "") ?? [];
    if (label === undefined || text === undefined || label in labels) throw new Error(`No labels: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_, character) => (character === "n" ? "\n" : character));
  }
  return { name, labels, value };
}

function checkTypes(types: Record<string, string>, samples: MetricSample[]): void {
  for (const [name, type] of Object.entries(types)) {
    if (type === "counter" && !name.endsWith("_total")) throw new Error(`A counter without _total: ${name}`);
    if (type === "counter" && samples.some((one) => one.name === name && !(one.value >= 0)))
      throw new Error(`A counter below nothing: ${name}`);
    if (type === "histogram") checkHistogram(name, samples);
  }
}

function checkHistogram(name: string, samples: MetricSample[]): void {
  const bySeries = Map.groupBy(
    samples.filter((one) => one.name.startsWith(`${name}_`)),
    ({ labels: { le: _, ...labels } }) => JSON.stringify(labels),
  );
  for (const [labels, all] of bySeries) {
    const buckets = all.filter((one) => one.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels: { le = "" } }) => (le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le)));
    const isRising = (numbers: number[], by: number) =>
      numbers.every((number, index) => index === 0 || number - (numbers[index - 1] as number) >= by);
    const counts = buckets.map(({ value }) => value);
    const total = all.find((one) => one.name === `${name}_count`)?.value;
    const hasSum = all.some((one) => one.name === `${name}_sum`);
    if (!isRising(bounds, Number.MIN_VALUE) || !isRising(counts, 0) || bounds.at(-1) !== Number.POSITIVE_INFINITY)
      throw new Error(`Buckets of ${name} ${labels} do not rise to +Inf.`);
    if (counts.at(-1) !== total || !hasSum) throw new Error(`Count or sum of ${name} ${labels} is missing or wrong.`);
  }
}
