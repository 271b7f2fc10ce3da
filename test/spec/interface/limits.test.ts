import { describe, expect, test } from 'vitest';
import { bundle } from '../../conformance/contract/documented.ts';
import { eventBundle } from '../../conformance/contract/schemas.ts';
import { type Bounds, type Limit, limitsOf, requestLimits } from '../../support/limits.ts';
import { decisions } from '../decisions/index.ts';
import { defaults } from './defaults.ts';
import { enums, requiredValues } from './enums.ts';
import { realtimeEvents } from './events.ts';
import { limits, unlimited } from './limits.ts';
import { knownStates, states } from './states.ts';

describe('values and limits', () => {
  const all = [...limitsOf(bundle), ...limitsOf(eventBundle)];
  const ours = decisions.flatMap((table) => Object.entries(table));
  const interfaces = [defaults, enums, limits, states].flatMap((table) => Object.entries(table));
  const at = Map.groupBy(all, ({ place }) => place);
  const definesLimit = (rows: readonly (readonly [string, Bounds])[]) => {
    const keywords = new Set(
      rows.flatMap(([place, bounds]) => Object.keys(bounds).map((one) => `${place} ${one}`)),
    );
    return ({ place, keyword }: Limit) => keywords.has(`${place} ${keyword}`);
  };
  const byInterface = definesLimit(interfaces);
  const byDecision = definesLimit(ours);
  /** The table of events contains the tags of the events. */
  const tags = new Set<unknown>(realtimeEvents.map(({ type }) => type));
  /** All management replies have the same envelope. */
  const isEnvelope = ({ place }: Limit) => /^\w+Reply\.success$/.test(place);
  const isTag = ({ keyword, value }: Limit) => keyword === 'const' && tags.has(value);

  test.each([...interfaces, ...ours])('%s: %o', (place, bounds) => {
    const found = at.get(place) ?? [];
    for (const [keyword, value] of Object.entries(bounds)) {
      const same = found.filter((limit) => limit.keyword === keyword);
      expect(same.length, `${place} has no ${keyword}`).toBeGreaterThan(0);
      for (const limit of same) expect(sorted(limit.value), keyword).toEqual(sorted(value));
    }
  });
  test.each(Object.entries({ ...requiredValues, ...knownStates }))('%s accepts %j', (place, values) => {
    const lists = (at.get(place) ?? []).filter(({ keyword }) => keyword === 'enum');
    expect(lists.length, `${place} has no enum`).toBeGreaterThan(0);
    for (const { value } of lists) expect(value).toEqual(expect.arrayContaining([...values]));
  });
  test.each(unlimited)('%s has no maximum length', (place) => {
    expect((at.get(place) ?? []).map(({ keyword }) => keyword)).not.toContain('maxLength');
  });

  test('success of every management reply is always true', () => {
    const envelopes = all.filter(isEnvelope);
    expect(envelopes.length).toBeGreaterThan(20);
    expect(lines(envelopes.filter(({ keyword, value }) => keyword !== 'const' || value !== true))).toEqual(
      [],
    );
  });

  // Each line is a limit that requires `x-decision` in the contract, on its schema or a surrounding one.
  test('each limit is in the interface or has x-decision', () => {
    const undecided = all.filter((limit) => !limit.decided && !byInterface(limit) && !isTag(limit));
    expect(lines(undecided)).toEqual([]);
  });
  // Each line is a limit that requires an entry in a table of test/spec/decisions.
  test('each request limit of the gateway, and each constant, has an entry in the tables', () => {
    const met = new Set(
      [...requestLimits(bundle), ...requestLimits(eventBundle)].map(({ pointer }) => pointer),
    );
    const values = new Set<string>(['const', 'enum', 'pattern']);
    const requestLimitsFound = all.filter(({ pointer, keyword }) => met.has(pointer) || values.has(keyword));
    expect(
      lines(
        requestLimitsFound.filter(
          (one) => !byInterface(one) && !byDecision(one) && !isTag(one) && !isEnvelope(one),
        ),
      ),
    ).toEqual([]);
  });
});

/** Formats a limit like the tables. */
const lines = (found: readonly Limit[]) => [
  ...new Set(
    found.map(({ place, keyword, value }) => `'${place}': { ${keyword}: ${JSON.stringify(value)} },`),
  ),
];

/** Sorts lists of values, which have no order. */
const sorted = (value: unknown) =>
  Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value;
