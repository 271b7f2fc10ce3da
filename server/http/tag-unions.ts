import { isSchema, type Json, property, resolve, type Schema } from './form-types.ts';

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
