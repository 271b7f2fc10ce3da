type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Adds `discriminator` to every `oneOf` whose members share a required `const` property, so that an error speaks
 * of the member that was meant. The contract itself leaves it out, because other tools trip over it.
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
        node.discriminator = { propertyName: tag };
        // Ajv wants the keyword beside a type.
        node.type ??= 'object';
      }
    }
    for (const value of Object.values(node)) visit(value);
  };
  visit(root);
  return document;
}

function sharedTag(root: Json, members: readonly Json[]): string | undefined {
  const schemas = members.map((member) => resolve(root, member));
  const first = schemas[0];
  if (first === undefined || !isObject(first.properties ?? null)) return undefined;
  const taken = (name: string) => {
    const tags = schemas.map((schema) => {
      const property = isObject(schema.properties ?? null)
        ? (schema.properties as Record<string, Json>)[name]
        : undefined;
      const required = Array.isArray(schema.required) && schema.required.includes(name);
      return required && property !== undefined && isObject(property) ? property.const : undefined;
    });
    return tags.every((tag) => typeof tag === 'string') && new Set(tags).size === tags.length;
  };
  return Object.keys(first.properties as Record<string, Json>).find(taken);
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
