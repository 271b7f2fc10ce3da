import { type Context, conditional, isNode, type Node } from './visit.ts';

/**
 * Every schema has a type, every array has items, and every object has fields or `additionalProperties`. Client
 * generators otherwise produce `any`, `unknown` or an empty object. Conditionals need items only: linters of other teams
 * require them in every array.
 */
export function schemaTyped() {
  return {
    Schema(schema: Node, ctx: Context) {
      const { pointer } = ctx.location;
      const isArray = [schema.type].flat().includes('array');
      if (isArray && !isNode(schema.items)) ctx.report({ message: 'An array must have items.' });
      if (conditional.test(`${pointer}/${ctx.key}`)) return;
      const inlineConditional = schema.if !== undefined && /\/allOf\/\d+$/.test(pointer);
      if (!inlineConditional && !isTyped(schema)) ctx.report({ message: 'A schema must have a type.' });
      if (schema.type === 'object' && shapes.every((key) => schema[key] === undefined))
        ctx.report({ message: 'An object without fields must have additionalProperties.' });
    },
  };
}

/** Keywords that define the fields of an object. */
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
