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

/** A scrape, read by the rules of OpenMetrics 1.0, which are stricter than those of the older form. */
export class Scrape {
  readonly families: ReadonlyMap<string, Family>;

  /** @throws AssertionError on the first line that breaks a rule. */
  constructor(text: string) {
    assert(text.endsWith('\n# EOF\n'), 'it must end with # EOF');
    // A reader of the older form must be able to read it, too.
    parseTextFormat(text);
    this.families = familiesOf(text.slice(0, -'# EOF\n'.length));
    for (const family of this.families.values()) checkFamily(family);
  }

  /** Sum of the values of that name that have all of these labels; of a histogram, take its `_count`. */
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

/** Asks an operator's port. */
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

function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let family: Family | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const comment = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment !== null) {
      const [, what = '', name = '', words = ''] = comment;
      if (what === 'TYPE') {
        assert(!families.has(name), `${name} is there twice`);
        assert(words in suffixes, line);
        family = { name, type: words, unit: '', help: '', samples: [] };
        families.set(name, family);
      }
      assert(family?.name === name && family.samples.length === 0, line);
      if (what === 'UNIT') family.unit = words;
      if (what === 'HELP') family.help = words;
      continue;
    }
    const sample = readSample(line);
    assert(family !== undefined, line);
    const mine = suffixes[family.type]?.some((suffix) => sample.name === `${family?.name}${suffix}`);
    assert(mine, `${line} is none of ${family.name}`);
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
  assert.equal(Object.keys(labels).length, pairs.length, `${line}: a label is there twice`);
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

/** The buckets of each set of labels come together, grow to that of +Inf, and that one is the count. */
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
