import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { createValue } from '../../server/sandbox/text/schema-value.ts';

const ajv = addFormats.default(new Ajv2020({ strict: false }));
const question = 'Low tide in Vik is in 3 hours.';
const node = {
  type: 'object',
  properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
  required: ['value', 'next'],
  additionalProperties: false,
};

describe('a value of a schema', () => {
  test.each<[string, object]>([
    ['text', { type: 'string' }],
    ['a number in a range', { type: 'number', minimum: 10, maximum: 20 }],
    ['an enum', { enum: ['Oslo', 'Bergen'] }],
    ['a constant of null', { const: null }],
    ['a nullable integer', { type: ['null', 'integer'] }],
    [
      'alternatives',
      { oneOf: [{ type: 'null' }, { type: 'array', items: { type: 'boolean' }, minItems: 2 }] },
    ],
    ['formats', { type: 'array', items: { type: 'string', format: 'date-time' } }],
    ['a reference', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'string', format: 'uuid' } } }],
    [
      'a recursive list',
      {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#' } } },
        required: ['children'],
      },
    ],
    ['recursive alternatives', { $ref: '#/$defs/node', $defs: { node } }],
    [
      'a combination',
      {
        allOf: [{ $ref: '#/$defs/a' }, { type: 'object', properties: { b: { const: 2 } }, required: ['b'] }],
        $defs: { a: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      },
    ],
  ])('matches %s', (_, schema) => {
    const isValid = ajv.compile(schema);
    expect(isValid(createValue({ ...schema }, question)), JSON.stringify(isValid.errors)).toBe(true);
  });

  test('contains words of the question', () => {
    const properties = { harbour: { type: 'string' }, hours: { type: 'integer' } };
    expect(createValue({ type: 'object', properties }, question)).toEqual({ harbour: 'Vik', hours: 3 });
  });

  test('is bounded, whatever the schema requires', () => {
    const branches = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { $ref: '#' }]));
    const tree = { type: 'object', properties: branches };
    expect(JSON.stringify(createValue(tree, question)).length).toBeLessThan(1_000_000);
    const list = createValue({ type: 'array', minItems: 1e9, items: { type: 'null' } }, question);
    expect(list).toHaveLength(100);
  });
});
