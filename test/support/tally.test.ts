import { expect, test } from 'vitest';
import { type TestResult, tally } from './tally.ts';
import { errorProblems } from './uncovered-errors.ts';

const results = (...pairs: [state: TestResult['state'], fullName: string][]): TestResult[] =>
  pairs.map(([state, fullName]) => ({ state, fullName }));

const problemsOf = () => [];

test('reports errors that no test causes and fails the run', () => {
  const known = new Set(['generic 400 bad', 'task gone', 'task lost', 'realtime shut']);
  const exempt = new Map([
    ['task lost', 'it cannot occur'],
    ['realtime shut', 'it cannot occur'],
    ['realtime open', 'it cannot occur'],
  ]);
  const run: TestResult[] = [
    { state: 'passed', fullName: 'x', errors: ['task gone', 'realtime shut', 'task own'] },
  ];
  const options = {
    least: 1,
    problemsOf: (recorded: ReadonlySet<string>) => errorProblems(recorded, known, exempt),
  };
  expect(tally(run, options)).toEqual({
    lines: [
      'no test causes the error generic 400 bad',
      'uncovered-errors.ts lists realtime shut, which a test causes or which does not exist',
      'uncovered-errors.ts lists realtime open, which a test causes or which does not exist',
      '1 passed, 0 failed',
    ],
    isValid: false,
  });
  expect(tally(run, { ...options, isComplete: false })).toEqual({
    lines: ['1 passed, 0 failed'],
    isValid: true,
  });
});

test('a complete run is one line', () => {
  const whole = results(
    ['passed', 'ledger on sqlite balance'],
    ['passed', 'ledger on postgres balance'],
    ['failed', 'x'],
  );
  expect(tally(whole, { least: 3, problemsOf })).toEqual({ lines: ['2 passed, 1 failed'], isValid: true });
});

test('lists skipped tests and counts tests that ran on one engine only', () => {
  const half = results(
    ['passed', 'ledger on sqlite balance'],
    ['passed', 'tasks on sqlite, when the clock changes continue'],
    ['skipped', 'several gateways on PostgreSQL agree'],
    ['passed', 'a test of no engine'],
  );
  expect(tally(half, { least: 6, problemsOf })).toEqual({
    lines: [
      'skipped: several gateways on PostgreSQL agree',
      'not run: 2 tests on PostgreSQL, which did not answer; they ran on SQLite only',
      '3 passed, 0 failed, 1 skipped, 2 not run',
    ],
    isValid: true,
  });
});

test('names the tests that ran on SQLite only although PostgreSQL answered', () => {
  const run = results(
    ['passed', 'ledger on sqlite balance'],
    ['passed', 'ledger on postgres balance'],
    ['passed', 'a disk on sqlite fills'],
  );
  expect(tally(run, { least: 4, problemsOf })).toEqual({
    lines: ['not run on PostgreSQL: a disk on sqlite fills', '3 passed, 0 failed, 1 not run'],
    isValid: true,
  });
});

test('a complete run with too few tests is not valid', () => {
  const { lines, isValid } = tally(results(['passed', 'the only one']), { least: 2, problemsOf });
  expect(isValid).toBe(false);
  expect(lines).toEqual(['there are 1 tests instead of at least 2: some were lost', '1 passed, 0 failed']);
});

test('cuts a long list of skipped tests', () => {
  const many = Array.from({ length: 25 }, (_, index): [TestResult['state'], string] => [
    'pending',
    `test ${index}`,
  ]);
  const { lines } = tally(results(...many), { least: 25, problemsOf });
  expect(lines.slice(-2)).toEqual(['skipped: 5 more', '0 passed, 0 failed, 25 skipped']);
  expect(lines).toHaveLength(22);
});
