import { type Context, conditional, isNode, type Node } from './visit.ts';

/**
 * Every schema says what type it is of, and every list what its items are, also a schema that only limits fields
 * described elsewhere: client generators make `any` or `unknown` of the others, and of an object without fields one
 * that cannot have any. Conditionals are left alone.
 */
export function schemaTyped() {
  return {
    Schema(schema: Node, ctx: Context) {
      const { pointer } = ctx.location;
      if (conditional.test(`${pointer}/${ctx.key}`)) return;
      const inlineConditional = schema.if !== undefined && /\/allOf\/\d+$/.test(pointer);
      if (!inlineConditional && !isTyped(schema)) ctx.report({ message: 'A schema must say its type.' });
      const isList = [schema.type].flat().includes('array');
      if (isList && !isNode(schema.items) && schema.prefixItems === undefined)
        ctx.report({ message: 'A list must say what its items are.' });
      if (schema.type === 'object' && shapes.every((key) => schema[key] === undefined))
        ctx.report({ message: 'An object that names no fields must say additionalProperties.' });
    },
  };
}

/** What says which fields an object has, or that it has none. */
const shapes = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'maxProperties',
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
];

const isTyped = (schema: unknown): boolean =>
  isNode(schema) &&
  (['type', '$ref', 'const', 'enum'].some((key) => schema[key] !== undefined) ||
    [schema.allOf, schema.anyOf, schema.oneOf].flat().some(isTyped));
