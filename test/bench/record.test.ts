import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { appendRows, formatRow, readTable, selectBase, type VerdictRow, waitForIdle } from './record.ts';

const [first, second, third, fourth] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const result: VerdictRow['result'] = {
  measure: 'CPU per request',
  ratio: 0.9512,
  interval: { low: 0.93, high: 0.974 },
  verdict: 'faster',
};
const row = (commit: string, base: string, isBusy = false): VerdictRow => ({
  date: '2026-11-26',
  commit,
  base,
  caseName: 'json',
  result: isBusy ? undefined : result,
  load: isBusy ? 1.5 : 0.1,
  otherLoad: isBusy ? undefined : 0.02,
});

async function temporaryFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-table-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'table.md');
}

test('a row has the commits, the ratio with its interval, the verdict and the load', () => {
  expect(formatRow(row(second, first))).toBe(
    '| 2026-11-26 | 222222222222 | 111111111111 | json | CPU per request | 0.951 | 0.930 to 0.974 | faster | 0.10 | 0.02 |',
  );
});

test('a busy machine records no ratio and no verdict', () => {
  expect(formatRow(row(second, first, true))).toBe(
    '| 2026-11-26 | 222222222222 | 111111111111 | json |  |  |  | busy | 1.50 |  |',
  );
});

test('the table is created with its head, and later rows are appended', async () => {
  const file = await temporaryFile();
  await appendRows(file, [row(second, first)]);
  await appendRows(file, [row(third, second, true)]);
  const text = await readFile(file, 'utf8');
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/^\| date \| commit \| compared with \|/),
    `|${'---|'.repeat(10)}`,
    formatRow(row(second, first)),
    formatRow(row(third, second, true)),
    '',
  ]);
  expect(readTable(text)).toEqual([
    { commit: second.slice(0, 12), base: first.slice(0, 12), isMeasured: true },
    { commit: third.slice(0, 12), base: second.slice(0, 12), isMeasured: false },
  ]);
});

test.each([
  ['other text', '# Notes\n', 'must be empty or a table that --record has created'],
  ['a row without the head', `${formatRow(row(second, first))}\n`, 'must be empty or a table'],
])('%s is no table of verdicts', (_, text, message) => {
  expect(() => readTable(text)).toThrow(message);
});

test('a table with another line is refused', async () => {
  const file = await temporaryFile();
  await appendRows(file, [row(second, first)]);
  const text = await readFile(file, 'utf8');
  expect(() => readTable(`${text}Notes\n`)).toThrow('has an invalid row: Notes');
});

/** The rows as they are read from a table. */
const recorded = (...rows: readonly VerdictRow[]) =>
  rows.map(({ commit, base, result: measured }) => ({
    commit: commit.slice(0, 12),
    base: base.slice(0, 12),
    isMeasured: measured !== undefined,
  }));
const always = () => true;
const short = (commit: string) => commit.slice(0, 12);

test.each([
  ['the parent, if the table is empty', [], `${fourth}~1`],
  ['the commit of the last row', recorded(row(second, first), row(third, second)), short(third)],
  [
    'the last measured commit, if the machine was busy since then',
    recorded(row(second, first), row(third, second, true)),
    short(second),
  ],
  [
    'the base of the oldest row, if the machine was always busy',
    recorded(row(second, first, true), row(third, first, true)),
    short(first),
  ],
  [
    'the commit before, if the commit itself was measured',
    recorded(row(third, second), row(fourth, third)),
    short(third),
  ],
])('a commit is compared with %s', (_, rows, base) => {
  expect(selectBase(rows, fourth, always)).toBe(base);
});

test('a commit is not compared with one that no longer exists', () => {
  const rows = recorded(row(second, first), row(third, second));
  expect(selectBase(rows, fourth, (commit) => commit !== short(third))).toBe(short(second));
  expect(selectBase(rows, fourth, () => false)).toBe(`${fourth}~1`);
});

test('the measurement waits while the load of an earlier step decreases', async () => {
  const loads = [1.2, 0.8, 0.4];
  const delays: number[] = [];
  const load = await waitForIdle(
    () => loads[Math.min(delays.length, loads.length - 1)] ?? 0,
    async (ms) => void delays.push(ms),
  );
  expect([load, delays]).toEqual([0.4, [5000, 5000]]);
});

test('the measurement waits up to 3 minutes', async () => {
  let waitedMs = 0;
  const load = await waitForIdle(
    () => 2,
    async (ms) => {
      waitedMs += ms;
    },
  );
  expect([load, waitedMs]).toEqual([2, 180_000]);
});
