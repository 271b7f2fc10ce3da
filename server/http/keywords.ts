import { type Ajv, type Format, str } from 'ajv';
import { isSchema, type Json, property, resolve, type Schema } from './form-types.ts';

/**
 * What the contract's formats mean, where the validator's own idea of them lets too much pass. Every address that the
 * contract takes is of the format `uri`.
 */
export const formats: Readonly<Record<string, Format>> = {
  uri: { type: 'string', validate: isAddress },
};

/** Begins every data URL that a provider can read. */
const dataHead = /^data:[^,\s]{0,300},/i;

/** Whether a text is an address that all who read it understand alike. */
function isAddress(text: string): boolean {
  if (/^data:/i.test(text)) return dataHead.test(text.slice(0, 400));
  // A URL parser leaves out blanks and control characters, so that others may see another address than we do.
  return !/[\s\p{Cc}\\]/u.test(text) && URL.canParse(text);
}

/**
 * Gives the lengths of texts a meaning that costs nothing for megabytes: characters, of which each is one or two units
 * of a text, are only counted where the number of units leaves a doubt.
 */
export function countLess(ajv: Ajv): void {
  define(ajv, 'maxLength', 'more', (most, text) => {
    if (text.length <= most || text.length > 2 * most) return text.length <= most;
    return characters(text) <= most;
  });
  define(ajv, 'minLength', 'fewer', (least, text) => text.length >= 2 * least || characters(text) >= least);
}

function define(
  ajv: Ajv,
  keyword: string,
  than: string,
  validate: (limit: number, text: string) => boolean,
): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    errors: false,
    validate,
    error: { message: ({ schemaCode }) => str`must NOT have ${than} than ${schemaCode} characters` },
  });
}

function characters(text: string): number {
  return Array.from(text).length;
}

/**
 * Adds `discriminator` to every `oneOf` whose members share a required `const` property, so that an error speaks
 * of the member that was meant, and the values of that property, so that an error tells them. The contract itself
 * leaves both out, because other tools trip over them.
 */
export function tagUnions(document: object): object {
  const root = document as Json;
  const visit = (node: Json): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!isSchema(node)) return;
    if (Array.isArray(node.oneOf)) setRestApart(root, node, node.oneOf);
    if (Array.isArray(node.oneOf) && node.discriminator === undefined) {
      const tag = sharedTag(root, node.oneOf);
      if (tag !== undefined) {
        node.discriminator = { propertyName: tag.name };
        node.properties = {
          [tag.name]: { enum: tag.values },
          ...(isSchema(node.properties) ? node.properties : {}),
        };
        // Ajv wants the keyword beside a type.
        node.type ??= 'object';
      }
    }
    Object.values(node).forEach(visit);
  };
  visit(root);
  return document;
}

/** Sets the last member of a union apart where it takes all tags but those of the others: it has no tag to tell it by. */
function setRestApart(root: Json, node: Schema, members: readonly Json[]): void {
  const known = members.slice(0, -1);
  const rest = members.at(-1);
  const tag = sharedTag(root, known);
  if (tag === undefined || rest === undefined) return;
  const others = property(property(resolved(root, rest).properties, tag.name), 'not');
  if (!isSchema(others)) return;
  delete node.oneOf;
  const isKnown = { type: 'object', required: [tag.name], properties: { [tag.name]: { enum: tag.values } } };
  node.allOf = [
    { if: isKnown, else: rest },
    { if: { not: isKnown }, else: { oneOf: known } },
  ];
}

/** The property and, in the order of the members, its values. */
function sharedTag(root: Json, members: readonly Json[]): { name: string; values: string[] } | undefined {
  const schemas = members.map((member) => resolved(root, member));
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

function resolved(root: Json, node: Json | undefined): Schema {
  if (!isSchema(node)) return {};
  return typeof node.$ref === 'string' ? resolved(root, resolve(root, node.$ref)) : node;
}

/** Takes the messages of some keywords from the contract: `x-form` beside the keyword. */
export function useContractWords(ajv: Ajv): void {
  for (const keyword of ['not', 'required', 'minimum']) {
    const definition = ajv.getKeyword(keyword);
    if (typeof definition === 'boolean') continue;
    const usual = definition.error?.message ?? 'must be valid';
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      ...definition,
      keyword,
      error: {
        ...definition.error,
        message: (context) => {
          const form: unknown = context.parentSchema?.['x-form'];
          if (typeof form === 'string') return form;
          return typeof usual === 'function' ? usual(context) : usual;
        },
      },
    });
  }
}
