import { describe, expect, test } from 'vitest';
import { bundle } from '../conformance/contract/documented.ts';
import { eventBundle } from '../conformance/contract/schemas.ts';
import * as support from '../support/response-fields.ts';
import { eventFields, responseFields } from './decisions/response-fields.ts';

describe.each([
  ['HTTP responses and callbacks', bundle, responseFields],
  ['events', eventBundle, eventFields],
] as const)('required and nullable fields of %s', (_, document, table) => {
  const found = support.responseFields(document);

  test.each(Object.entries(table))('%s', (place, fields) => {
    expect(found.get(place)).toBe(fields);
  });

  test('each object has an entry in the table', () => {
    expect([...found].filter(([place]) => !(place in table))).toEqual([]);
  });
});
