import { expect, test } from 'vitest';
import { summarize } from './mutation-summary.ts';

const at = (line: number, from: number, to: number) => ({
  start: { line, column: from },
  end: { line, column: to },
});
const mutant = (status: string, location: ReturnType<typeof at>, replacement = 'false') => ({
  mutatorName: 'Conditional',
  status,
  replacement,
  location,
});

test('what no test noticed is named by file, line and column; the score leaves out what could not be tried', () => {
  const files = {
    'server/a.ts': {
      source: 'one\nif (x > 1) go();\n',
      mutants: [
        mutant('Killed', at(1, 1, 4)),
        mutant('Timeout', at(1, 1, 4), 'none'),
        mutant('Survived', at(2, 5, 10), 'x\n  >= 1'),
        mutant('CompileError', at(2, 5, 10)),
        mutant('Ignored', at(2, 5, 10)),
      ],
    },
    'server/b.ts': { source: 'two', mutants: [mutant('NoCoverage', at(1, 1, 4), 'y'.repeat(90))] },
    'server/c.ts': { source: '', mutants: [] },
  };
  expect(summarize({ files })).toEqual({
    lines: [
      'server/a.ts:2:5 survived: Conditional x > 1 → x >= 1',
      `server/b.ts:1:1 not reached: Conditional two → ${'y'.repeat(60)}…`,
      'server/a.ts:1:1 ran out of time: Conditional one → none',
      ' 66.7 % server/a.ts (2 of 3)',
      '  0.0 % server/b.ts (0 of 1)',
      '100.0 % server/c.ts (0 of 0)',
      ' 50.0 % noticed: 2 of 4 changes, 2 not',
    ],
    score: 50,
  });
});

test('nothing to change is all noticed', () => {
  expect(summarize({ files: {} }).score).toBe(100);
});
