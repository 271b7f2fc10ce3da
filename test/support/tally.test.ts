import { expect, test } from 'vitest';
import { asReport, type Report, tally, together } from './tally.ts';
import { errorProblems } from './uncovered-errors.ts';

const report = (...results: [status: string, fullName: string][]): Report => ({
  numPassedTests: results.filter(([status]) => status === 'passed').length,
  numFailedTests: results.filter(([status]) => status === 'failed').length,
  testResults: results.map(([status, fullName]) => ({ assertionResults: [{ status, fullName }] })),
});

const none = () => [];

test('reports errors that no test causes and fails the run', () => {
  const known = new Set(['generic 400 bad', 'task gone', 'task lost', 'realtime shut']);
  const exempt = new Map([
    ['task lost', 'it cannot be'],
    ['realtime shut', 'it cannot be'],
    ['realtime open', 'it cannot be'],
  ]);
  const result = {
    status: 'passed',
    fullName: 'x',
    meta: { errors: ['task gone', 'realtime shut', 'task own'] },
  };
  const run = { numPassedTests: 1, numFailedTests: 0, testResults: [{ assertionResults: [result] }] };
  expect(tally(run, 1, (recorded) => errorProblems(recorded, known, exempt))).toEqual({
    lines: [
      'no test causes the error generic 400 bad',
      'uncovered-errors.ts lists realtime shut, which a test causes or which does not exist',
      'uncovered-errors.ts lists realtime open, which a test causes or which does not exist',
      '1 passed, 0 failed',
    ],
    counts: false,
  });
});

test('a whole run is told in one line', () => {
  const whole = report(
    ['passed', 'books on sqlite balance'],
    ['passed', 'books on postgres balance'],
    ['failed', 'x'],
  );
  expect(tally(whole, 3, none)).toEqual({ lines: ['2 passed, 1 failed'], counts: true });
});

test('the runs of several runners are told as one', () => {
  const runs = [report(['passed', 'a']), report(['passed', 'b'], ['failed', 'c'], ['skipped', 'd'])];
  expect(tally(together(runs), 4, none)).toEqual({
    lines: ['skipped: d', '2 passed, 1 failed, 1 skipped'],
    counts: true,
  });
});

test('a program that is a test by itself counts as one', () => {
  const runs = [report(['passed', 'a']), asReport('soak', true), asReport('other soak', false)];
  expect(tally(together(runs), 3, none)).toEqual({ lines: ['2 passed, 1 failed'], counts: true });
});

test('the half that did not run is counted, and what was skipped is named', () => {
  const half = report(
    ['passed', 'books on sqlite balance'],
    ['passed', 'tasks on sqlite, when the clock is set go on'],
    ['skipped', 'several gateways on PostgreSQL agree'],
    ['passed', 'words of no engine'],
  );
  expect(tally(half, 6, none)).toEqual({
    lines: [
      'skipped: several gateways on PostgreSQL agree',
      'not run: 2 tests on PostgreSQL, which did not answer; they ran on SQLite only',
      '3 passed, 0 failed, 1 skipped, 2 not run',
    ],
    counts: true,
  });
});

test('a run with fewer tests than there must be does not count', () => {
  const { lines, counts } = tally(report(['passed', 'the only one']), 2, none);
  expect(counts).toBe(false);
  expect(lines).toEqual(['there are 1 tests, and there must be 2: some were lost', '1 passed, 0 failed']);
});

test('a long list of skipped tests is cut', () => {
  const many = Array.from({ length: 25 }, (_, index): [string, string] => ['pending', `test ${index}`]);
  const { lines } = tally(report(...many), 25, none);
  expect(lines.slice(-2)).toEqual(['skipped: 5 more', '0 passed, 0 failed, 25 skipped']);
  expect(lines).toHaveLength(22);
});
