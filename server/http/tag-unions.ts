type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Adds `discriminator` to every `oneOf` whose members share a required `const` property, so that an error speaks
 * of the member that was meant, and the values of that property, so that an error tells them. The contract itself
 * leaves both out, because other tools trip over them.
 */
export function tagUnions(document: object): object {
  const root = document as Json;
  const visit = (node: Json): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item);
      return;
    }
    if (!isObject(node)) return;
    if (Array.isArray(node.oneOf) && node.discriminator === undefined) {
      const tag = sharedTag(root, node.oneOf);
      if (tag !== undefined) {
        node.discriminator = { propertyName: tag.name };
        const properties = isObject(node.properties ?? null) ? (node.properties as object) : {};
        node.properties = { [tag.name]: { enum: tag.values }, ...properties };
        // Ajv wants the keyword beside a type.
        node.type ??= 'object';
      }
    }
    for (const value of Object.values(node)) visit(value);
  };
  visit(root);
  return document;
}

/** The property and, in the order of the members, its values. */
function sharedTag(root: Json, members: readonly Json[]): { name: string; values: string[] } | undefined {
  const schemas = members.map((member) => resolve(root, member));
  const first = schemas[0];
  if (first === undefined || !isObject(first.properties ?? null)) return undefined;
  for (const name of Object.keys(first.properties as Record<string, Json>)) {
    const tags = schemas.map((schema) => {
      const property = isObject(schema.properties ?? null)
        ? (schema.properties as Record<string, Json>)[name]
        : undefined;
      const required = Array.isArray(schema.required) && schema.required.includes(name);
      return required && property !== undefined && isObject(property) ? property.const : undefined;
    });
    const values = tags.filter((tag) => typeof tag === 'string');
    if (values.length === tags.length && new Set(values).size === values.length) return { name, values };
  }
  return undefined;
}

function resolve(root: Json, node: Json): Record<string, Json> {
  if (!isObject(node)) return {};
  if (typeof node.$ref !== 'string') return node;
  const target = node.$ref
    .slice(2)
    .split('/')
    .reduce<Json>(
      (at, part) => (isObject(at) ? (at[part.replaceAll('~1', '/').replaceAll('~0', '~')] ?? null) : null),
      root,
    );
  return resolve(root, target);
}

function isObject(node: Json): node is { [key: string]: Json } {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
