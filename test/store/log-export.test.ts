import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvHeader, type ExportFilter, type ExportFormat } from '../../server/store/queries/log-export.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { insertLogEntries, runStatement } from './raw-rows.ts';

const names = [
  'front end',
  '=1+1',
  '  +1',
  '-1',
  '@sum',
  '＝1',
  '\tx',
  '\r\nx',
  "'quoted",
  'a "b" c',
  'a,b;c\td',
  'two\r\nlines',
  '日本語',
  'bell\u0007, next line\u0085',
  'right to left \u202eexe.gnp\u2066',
  '',
];
/** Characters that a terminal or an editor interprets instead of showing them. */
const control = /\p{Cc}|\p{Bidi_Control}/gu;
const models = ['alpha3-tts-flash', 'voxa-v2'];

/** Several windows of numbers, some of them empty, and more than a page in one of them. */
const numbers = [
  ...Array.from({ length: 600 }, (_, index) => 40_000 + index),
  70_000,
  70_001,
  ...Array.from({ length: 30 }, (_, index) => 200_000 + index * 3_001),
];

const entries = numbers.map((id) => ({
  id,
  request_id: `req_${id}`,
  user_id: (id % 3) + 1,
  token_id: (id % 5) + 1,
  token_name: names[id % names.length] ?? '',
  model_name: models[id % 2] ?? '',
  operation: id % 7 === 0 ? 'createVideo' : 'createSpeech',
  channel: id % 11 === 0 ? '' : 'eu',
  status: id % 13 === 0 ? 503 : 200,
  error_code: id % 13 === 0 ? 'get_channel_failed' : null,
  unit: 'seconds',
  units: id % 4 === 0 ? 2.5 : 3,
  prompt_tokens: 0,
  completion_tokens: 1,
  quota: 2 ** 52,
  duration_ms: 7,
  created_at: 1_795_000_000 + (id % 100),
  state: id % 17 === 0 ? 'failed' : 'completed',
  task_id: id % 5 === 0 ? `task_${id}` : null,
  upstream_id: id % 3 === 0 ? `=upstream ${id}` : null,
  unit_price: 0.1,
  price_rule: null,
  group_ratio: 2.5,
  group_name: 'trial',
  config_revision: 'abc',
  cost: id % 7 === 0 ? id : null,
  debt: id % 19,
  refunded: 0,
}));
type Entry = (typeof entries)[number];

function wanted(entry: Entry, filter: ExportFilter): boolean {
  const is = <T>(value: T, asked: T | undefined) => asked === undefined || value === asked;
  return (
    is(entry.user_id, filter.userId) &&
    is(entry.token_id, filter.tokenId) &&
    is(entry.model_name, filter.model) &&
    is(entry.channel, filter.channel) &&
    is(entry.operation, filter.operation) &&
    is(entry.status, filter.status) &&
    is(entry.request_id, filter.requestId) &&
    (filter.errors !== true || entry.status >= 400 || entry.state === 'failed') &&
    (filter.since === undefined || entry.created_at >= filter.since) &&
    (filter.until === undefined || entry.created_at < filter.until)
  );
}

const filters: fc.Arbitrary<ExportFilter> = fc.record(
  {
    userId: fc.constantFrom(1, 2, 9),
    tokenId: fc.constantFrom(1, 2, 9),
    model: fc.constantFrom(...models),
    channel: fc.constantFrom('eu', ''),
    operation: fc.constant('createVideo'),
    status: fc.constantFrom(200, 503),
    errors: fc.boolean(),
    requestId: fc.constantFrom('req_40001', 'req_287029', 'req_none'),
    since: fc.constant(1_795_000_040),
    until: fc.constant(1_795_000_060),
  },
  { requiredKeys: [] },
);

describe.each(engines)('an export of the log on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    expect(await store.report('exportRange', { after: 0 })).toEqual({ after: 0, upTo: 0 });
    await insertLogEntries(
      testStore,
      entries.map(({ refunded: _, ...entry }) => entry),
    );
    if (engine === 'postgres') await runStatement(testStore, `select setval('request_log_id_seq', 900000)`);
  });
  afterAll(() => testStore.remove());

  async function exported(format: ExportFormat, filter: ExportFilter, after = 0) {
    let text = '';
    let pages = 0;
    const { upTo, after: first } = await store.report('exportRange', { after });
    for (let last = first; last < upTo; pages += 1) {
      const page = await store.report('exportPage', { after: last, upTo, format, filter });
      expect(page.last).toBeGreaterThan(last);
      expect(page.text.split('\n').length).toBeLessThan(2_000);
      ({ last } = page);
      text += page.text;
    }
    return { text, pages };
  }
  const inLines = (text: string) =>
    text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry]));

  test('has every matching entry, once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.constantFrom(0, 40_100, 70_000, 999_999), async (filter, after) => {
        const left = entries.filter((entry) => entry.id > after && wanted(entry, filter));
        expect(inLines((await exported('jsonl', filter, after)).text)).toEqual(left);
      }),
      { numRuns: 40 },
    );
    const { text, pages } = await exported('jsonl', {});
    expect(inLines(text)).toEqual(entries);
    expect(pages).toBeGreaterThan(5);
  });

  test('has the same entries as CSV, in which no text is a formula', async () => {
    const { text } = await exported('csv', {});
    const rows = parsed(text);
    expect(rows.map((fields) => fields.map(({ value }) => value))).toEqual(
      entries.map((entry) =>
        Object.values(entry).map((value) =>
          value === null ? '' : String(value).replaceAll(control, '\uFFFD'),
        ),
      ),
    );
    expect(text.replaceAll('\r\n', '')).not.toMatch(control);
    const texts = rows.flat().filter(({ quoted }) => quoted);
    for (const { raw } of texts) expect(raw).not.toMatch(/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/);
    expect(csvHeader).toBe(`${Object.keys(entries[0] ?? {}).join()}\r\n`);
  });

  test('has control characters as escapes in lines of JSON', async () => {
    const { text } = await exported('jsonl', {});
    expect(text.replaceAll('\n', '')).not.toMatch(control);
    expect(text).toContain('\\u202eexe.gnp\\u2066');
    expect(inLines(text)).toEqual(entries);
  });

  test('ends with the last entry at its start', async () => {
    const range = await store.report('exportRange', { after: 287_000 });
    const [last] = entries.slice(-1);
    const { refunded: _, ...later } = last as Entry;
    await insertLogEntries(testStore, [{ ...later, id: 300_000, request_id: 'later' }]);
    const page = await store.report('exportPage', { ...range, format: 'jsonl', filter: {} });
    expect(inLines(page.text)).toEqual([last]);
    expect(page.last).toBe(range.upTo);
    await runStatement(testStore, 'delete from request_log where id = 300000');
  });
});

/** Parses fields of RFC 4180, without the apostrophe that the contract documents. */
function parsed(text: string) {
  const rows: { value: string; raw: string; quoted: boolean }[][] = [[]];
  for (const [, quotedText, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    const quoted = quotedText !== undefined;
    const raw = quoted ? quotedText.replaceAll('""', '"') : plain;
    rows.at(-1)?.push({ raw, quoted, value: quoted ? raw.replace(/^'/, '') : raw });
    if (end !== ',') rows.push([]);
  }
  expect(rows.pop()).toEqual([]);
  return rows;
}
