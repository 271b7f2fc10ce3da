import { isObject, type Json, type JsonObject, objects } from '../../../openapi/tools/document.ts';
import { referred } from '../contract/schema-fields.ts';

/** A step from an object or a list to a value in it. */
export interface Step {
  /** Name of a field; a number for an item. */
  key: string | number;
  /** The schemas that the object or list is to fit, so that the step can be made. */
  of: readonly JsonObject[];
}

/** A schema with limits, and where the values stand that it limits. */
export interface Site {
  node: JsonObject;
  path: readonly Step[];
  /** The schemas of the limited value: this one and those around it. */
  of: readonly JsonObject[];
  /** It tells members of a union apart, of which the last takes every other value. */
  selects: boolean;
}

/**
 * Every schema that a value below `root` may have to fit, by the path of that value. What stands in `if`, `not` and
 * `contains` only selects, so it limits nothing by itself.
 */
export function limitSites(document: JsonObject, root: JsonObject): Site[] {
  const below = (
    node: Json | undefined,
    path: readonly Step[],
    around: readonly JsonObject[],
    tag?: string,
    selects = false,
  ): Site[] => {
    if (!isObject(node)) return [];
    const of = [...around, ...certain(document, node)];
    const here: Site = { node, path, of, selects };
    if (typeof node.$ref === 'string') {
      const target = referred(document, node.$ref);
      // A schema that holds itself is looked at once: its limits are the same on the way down.
      if (path.some((step) => step.of.some((one) => one === target))) return [here];
      return [here, ...below(target, path, of, tag), ...inside({ ...node, $ref: null }, path, of)];
    }
    return [here, ...inside(node, path, of, tag)];
  };
  const inside = (
    node: JsonObject,
    path: readonly Step[],
    of: readonly JsonObject[],
    tag?: string,
  ): Site[] => {
    const branches = [node.allOf, node.anyOf, node.oneOf].flatMap((list) =>
      Array.isArray(list) ? list : [],
    );
    const openTag = openTagOf(document, node.oneOf);
    const items = Array.isArray(node.prefixItems) ? node.prefixItems : [];
    return [
      ...[...branches, node.then, node.else].flatMap((branch) => below(branch, path, of, openTag)),
      ...objects(node.properties).flatMap(([key, schema]) =>
        below(schema, [...path, { key, of }], propertyOf(document, of, key), undefined, key === tag),
      ),
      ...below(node.items, [...path, { key: 0, of }], []),
      ...items.flatMap((schema, key) => below(schema, [...path, { key, of }], [])),
    ];
  };
  return below(root, [], []);
}

/** The tag of a union whose last member takes all values of it but those of the others. */
function openTagOf(document: JsonObject, members: Json | undefined): string | undefined {
  const last = Array.isArray(members) ? members.at(-1) : undefined;
  if (!isObject(last)) return undefined;
  const properties = certain(document, last).flatMap((one) => objects(one.properties));
  return properties.find(([, schema]) => isObject(schema.not))?.[0];
}

/** What schemas of an object say of one of its fields. */
const propertyOf = (document: JsonObject, of: readonly JsonObject[], key: string): JsonObject[] =>
  of.flatMap(({ properties }) => {
    const schema = isObject(properties) ? properties[key] : undefined;
    return isObject(schema) ? certain(document, schema) : [];
  });

/** The schemas that a value must fit whichever branch it takes. */
function certain(document: JsonObject, node: JsonObject): JsonObject[] {
  const all = Array.isArray(node.allOf) ? node.allOf.filter(isObject) : [];
  const target = typeof node.$ref === 'string' ? referred(document, node.$ref) : undefined;
  return [node, ...[...all, ...(isObject(target) ? [target] : [])].flatMap((one) => certain(document, one))];
}
