import { expect, test } from 'vitest';
import { highest, isLower, lowestVersion } from '../../../openapi/tools/breaking/version.ts';

test.each([
  ['1.2.3', 'major', '2.0.0'],
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'patch', '1.2.4'],
  ['0.2.3', 'major', '0.3.0'],
  ['0.2.3', 'minor', '0.2.4'],
  ['0.2.3', 'patch', '0.2.4'],
] as const)('after %s, a %s change needs %s', (base, severity, expected) => {
  expect(lowestVersion(base, severity)).toBe(expected);
});

test.each([
  ['1.2.3', '1.2.4', true],
  ['1.2.3', '1.10.0', true],
  ['1.2.3', '1.2.3', false],
  ['2.0.0', '1.9.9', false],
])('%s is lower than %s: %s', (one, other, expected) => {
  expect(isLower(one, other)).toBe(expected);
});

test('the highest severity counts', () => {
  expect(highest([{ severity: 'patch' }, { severity: 'major' }, { severity: 'minor' }])).toBe('major');
  expect(highest([])).toBeUndefined();
});
