import { describe, expect, test, vi } from 'vitest';
import { matcher, patternsOverlap } from '../../server/settings/model-patterns.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** Reference implementation: whether each rest of the pattern matches each rest of the id. */
function reference(pattern: string, id: string): boolean {
  let rest = Array.from({ length: id.length + 1 }, (_, at) => at === id.length);
  for (const sign of pattern.split('').reverse()) {
    const longer = rest;
    rest = longer.map((_, at) =>
      sign === '*' ? longer.slice(at).includes(true) : sign === id[at] && longer[at + 1] === true,
    );
  }
  return rest[0] === true;
}

describe('a model pattern', () => {
  test('matches the whole id, with any characters for each star', () => {
    const random = seededRandom(26);
    const text = (signs: string, longest: number) =>
      Array.from(
        { length: Math.floor(random() * (longest + 1)) },
        () => signs[Math.floor(random() * signs.length)],
      ).join('');
    const matched = { true: 0, false: 0 };
    for (let round = 0; round < 20_000; round += 1) {
      const [pattern, id] = [text('ab.*', 7), text('ab.', 9)];
      const expected = reference(pattern, id);
      matched[`${expected}`] += 1;
      expect(matcher([pattern])(id), `${pattern} and ${id}`).toBe(expected);
    }
    expect(Math.min(matched.true, matched.false), 'both outcomes are tried').toBeGreaterThan(1_000);
  });

  test.each(['alpha.3', 'alpha+', '(a|b)', '[a-z]', 'a\\d', '^a$', 'line\nbreak'])(
    'takes %j literally, with a star and without',
    (literal) => {
      const matches = matcher([literal, `${literal}-*`]);
      expect([literal, `${literal}-flash`, `${literal}-two\nlines`].map(matches)).toEqual([true, true, true]);
      expect(['alphaX3', 'alphaa', 'a', '1', literal.slice(1)].some(matches)).toBe(false);
    },
  );

  test('does not match if its first and last part overlap', () => {
    expect(matcher(['aba*aba'])('aba')).toBe(false);
    expect(matcher(['aba*aba'])('ababa')).toBe(false);
    expect(matcher(['aba*aba'])('abaaba')).toBe(true);
  });

  test('searches for each part once, whatever the number of stars', () => {
    const stars = 12;
    const matches = matcher([`${'*a'.repeat(stars)}*b`]);
    const searches = vi.spyOn(String.prototype, 'indexOf');
    const matched = matches(`${'a'.repeat(200)}c`);
    const steps = searches.mock.calls.length;
    searches.mockRestore();
    expect(matched).toBe(false);
    expect(steps).toBeLessThanOrEqual(stars + 1);
  });

  test('list matches if any of its patterns does', () => {
    const matches = matcher(['alpha3-*', 'voxa-v2']);
    expect(['alpha3-tts-flash', 'voxa-v2', 'voxa-v2-long', 'alpha3'].map(matches)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(matcher([])('any')).toBe(false);
  });
});

describe('two patterns overlap', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'b', false],
    ['*', 'a', true],
    ['a*', 'ab', true],
    ['a*', 'b', false],
    ['a*', '*b', true],
    ['ab*', 'a*', true],
    ['ab*', 'ac*', false],
    ['*ab', '*b', true],
    ['*ab', '*cb', false],
    ['a*x*', 'b*', false],
    ['a*x*', '*y*b', true],
  ])('%s and %s: %s', (left, right, expected) => {
    expect(patternsOverlap(left, right)).toBe(expected);
    expect(patternsOverlap(right, left)).toBe(expected);
  });

  test('if any id matches both', () => {
    const random = seededRandom(27);
    const text = (signs: string, longest: number) =>
      Array.from(
        { length: Math.floor(random() * (longest + 1)) },
        () => signs[Math.floor(random() * signs.length)],
      ).join('');
    let both = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const [left, right, id] = [text('ab*', 5), text('ab*', 5), text('ab', 8)];
      if (!matcher([left])(id) || !matcher([right])(id)) continue;
      both += 1;
      expect(patternsOverlap(left, right), `${left}, ${right} and ${id}`).toBe(true);
    }
    expect(both).toBeGreaterThan(100);
  });
});
