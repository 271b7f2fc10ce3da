import assert from 'node:assert/strict';
import parseTextFormat from 'parse-prometheus-text-format';

interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

interface Family {
  name: string;
  type: string;
  unit: string;
  help: string;
  samples: Sample[];
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  info: ['_info'],
  histogram: ['_bucket', '_count', '_sum'],
};

/** A scrape, parsed by the rules of OpenMetrics 1.0, which are stricter than those of the older text format. */
export class Scrape {
  readonly families: ReadonlyMap<string, Family>;

  /** @throws AssertionError on the first line that breaks a rule. */
  constructor(text: string) {
    assert(text.endsWith('\n# EOF\n'), 'the text must end with # EOF');
    this.families = familiesOf(text.slice(0, -'# EOF\n'.length));
    for (const family of this.families.values()) checkFamily(family);
  }

  /** Returns the sum of the values with a name and labels. For a histogram, use its `_count`. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.values(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  values(name: string, labels: Readonly<Record<string, string>> = {}): Sample[] {
    return [...this.families.values()]
      .flatMap(({ samples }) => samples)
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value));
  }
}

/** Scrapes an operator port. */
export async function scrape(operatorUrl: string | undefined): Promise<Scrape> {
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
  const reply = await fetch(`${operatorUrl}/metrics`, { headers: { accept } });
  assert.equal(reply.status, 200);
  assert.equal(
    reply.headers.get('content-type'),
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  );
  return new Scrape(await reply.text());
}

/** Parses metrics in the older text format. @throws an error on the first line that breaks a rule. */
export function parseOlderFormat(text: string): Map<string, string> {
  return new Map(parseTextFormat(text).map(({ name, type }) => [name, type.toLowerCase()]));
}

function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let family: Family | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const comment = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind = '', name = '', text = ''] = comment;
      if (kind === 'TYPE') {
        assert(!families.has(name), `${name} occurs twice`);
        assert(text in suffixes, line);
        family = { name, type: text, unit: '', help: '', samples: [] };
        families.set(name, family);
      }
      assert(family?.name === name && family.samples.length === 0, line);
      if (kind === 'UNIT') family.unit = text;
      if (kind === 'HELP') family.help = text;
      continue;
    }
    const sample = readSample(line);
    assert(family !== undefined, line);
    const isOwn = suffixes[family.type]?.some((suffix) => sample.name === `${family?.name}${suffix}`);
    assert(isOwn, `${line} does not belong to ${family.name}`);
    family.samples.push(sample);
  }
  return families;
}

function readSample(line: string): Sample {
  const [, name = '', , inside = '', value = ''] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (-?[0-9.e+-]+|\+Inf)$/.exec(line) ?? assert.fail(line);
  const pairs = [...inside.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/g)];
  assert.equal(pairs.map(([pair]) => pair).join(''), inside, line);
  const labels = Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text]));
  assert.equal(Object.keys(labels).length, pairs.length, `${line}: a label occurs twice`);
  return { name, labels, value: Number(value) };
}

function labelText(labels: Sample['labels']): string {
  return Object.keys(labels)
    .toSorted((left, right) => left.localeCompare(right))
    .map((key) => `,${key}=${labels[key]}`)
    .join('');
}

function checkFamily({ name, type, unit, help, samples }: Family): void {
  assert.notEqual(help, '', `${name} has no help`);
  if (unit !== '') assert(name.endsWith(`_${unit}`), `${name} must end with its unit, ${unit}`);
  const keys = samples.map((sample) => sample.name + labelText(sample.labels));
  assert.equal(new Set(keys).size, keys.length, `${name} has a value twice`);
  if (type === 'counter') assert(samples.every(({ value }) => value >= 0));
  if (type === 'histogram') checkHistogram(name, samples);
}

/** Checks that the buckets of each label set are adjacent and cumulative, and that the last one equals the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  let last: { bound: number; value: number } = { bound: Number.NEGATIVE_INFINITY, value: 0 };
  for (const { name: one, labels, value } of samples) {
    if (one === `${name}_bucket`) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
      assert(bound > last.bound && value >= last.value, `${name}: ${JSON.stringify(labels)}`);
      last = { bound, value };
    } else if (one === `${name}_count`) {
      assert.deepEqual(last, { bound: Number.POSITIVE_INFINITY, value });
      last = { bound: Number.NEGATIVE_INFINITY, value: 0 };
    }
  }
}
