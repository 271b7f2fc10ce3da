import type { Ajv, str as CodeTemplate, Format } from 'ajv';
import { dereference, isSchema, type Json, property, type Schema } from './contract-schema.ts';

/**
 * Formats that are stricter than those of ajv-formats. Every URL in the contract has the format `uri`.
 */
export const formats: Readonly<Record<string, Format>> = {
  uri: { type: 'string', validate: isAddress },
};

/** Start of a data URL. */
const dataHead = /^data:[^,\s]{0,300},/i;

/** Whether every URL parser reads the same address in this text. */
function isAddress(text: string): boolean {
  if (/^data:/i.test(text)) return dataHead.test(text.slice(0, 400));
  // URL parsers drop blanks and control characters, so another parser could see a different address.
  return !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text);
}

/**
 * Replaces `minLength` and `maxLength` with versions that are fast for megabytes: a character is one or two UTF-16 code
 * units, so code points are counted only when the number of code units is not decisive. `str` is the template tag of Ajv.
 */
export function useFastLengths(ajv: Ajv, str: typeof CodeTemplate): void {
  const define = (keyword: string, than: string, validate: (limit: number, text: string) => boolean) => {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      errors: false,
      validate,
      error: { message: ({ schemaCode }) => str`must NOT have ${than} than ${schemaCode} characters` },
    });
  };
  define('maxLength', 'more', (most, text) => {
    if (text.length <= most || text.length > 2 * most) return text.length <= most;
    return characters(text) <= most;
  });
  define('minLength', 'fewer', (least, text) => text.length >= 2 * least || characters(text) >= least);
}

function characters(text: string): number {
  return Array.from(text).length;
}

/**
 * Adds `discriminator` to every `oneOf` whose members share a required `const` property, so that errors concern the
 * chosen member and list the allowed values. The contract omits it because other tools do not support it.
 */
export function tagUnions(document: object): object {
  const root = document as Json;
  const visit = (node: Json): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!isSchema(node)) return;
    if (Array.isArray(node.oneOf)) separateFallback(root, node, node.oneOf);
    if (Array.isArray(node.oneOf) && node.discriminator === undefined) {
      const tag = sharedTag(root, node.oneOf);
      if (tag !== undefined) {
        node.discriminator = { propertyName: tag.name };
        node.properties = {
          [tag.name]: { enum: tag.values },
          ...(isSchema(node.properties) ? node.properties : {}),
        };
        // Ajv requires `type` beside `discriminator`.
        node.type ??= 'object';
      }
    }
    Object.values(node).forEach(visit);
  };
  visit(root);
  return document;
}

/** Rewrites a union whose last member accepts every other tag, because a discriminator cannot select that member. */
function separateFallback(root: Json, node: Schema, members: readonly Json[]): void {
  const known = members.slice(0, -1);
  const rest = members.at(-1);
  const tag = sharedTag(root, known);
  if (tag === undefined || rest === undefined) return;
  const others = property(property(dereference(root, rest).properties, tag.name), 'not');
  if (!isSchema(others)) return;
  delete node.oneOf;
  const isKnown = { type: 'object', required: [tag.name], properties: { [tag.name]: { enum: tag.values } } };
  node.allOf = [
    { if: isKnown, else: rest },
    { if: { not: isKnown }, else: { oneOf: known } },
  ];
}

/** The discriminating property with its values, in the order of the members. */
function sharedTag(root: Json, members: readonly Json[]): { name: string; values: string[] } | undefined {
  const schemas = members.map((member) => dereference(root, member));
  const properties = schemas[0]?.properties;
  for (const name of isSchema(properties) ? Object.keys(properties) : []) {
    const tags = schemas.map(({ required, properties }) =>
      Array.isArray(required) && required.includes(name)
        ? property(property(properties, name), 'const')
        : undefined,
    );
    const values = tags.filter((tag) => typeof tag === 'string');
    if (values.length === tags.length && new Set(values).size === values.length) return { name, values };
  }
  return undefined;
}
