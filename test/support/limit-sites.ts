import { isObject, type Json, type JsonObject, objects } from '../../openapi/tools/document.ts';
import { referred } from './schema-fields.ts';

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
}

/**
 * Every schema that a value below `root` may have to fit, by the path of that value. What stands in `if`, `not` and
 * `contains` only selects, so it limits nothing by itself.
 */
export function limitSites(document: JsonObject, root: JsonObject): Site[] {
  const below = (node: Json | undefined, path: readonly Step[], around: readonly JsonObject[]): Site[] => {
    if (!isObject(node)) return [];
    const of = [...around, ...certain(document, node)];
    const here: Site = { node, path, of };
    if (typeof node.$ref === 'string') {
      const target = referred(document, node.$ref);
      // A schema that holds itself is looked at once: its limits are the same on the way down.
      if (path.some((step) => step.of.some((one) => one === target))) return [here];
      return [here, ...below(target, path, of), ...inside({ ...node, $ref: null }, path, of)];
    }
    return [here, ...inside(node, path, of)];
  };
  const inside = (node: JsonObject, path: readonly Step[], of: readonly JsonObject[]): Site[] => {
    const branches = [node.allOf, node.anyOf, node.oneOf].flatMap((list) =>
      Array.isArray(list) ? list : [],
    );
    const items = Array.isArray(node.prefixItems) ? node.prefixItems : [];
    return [
      ...[...branches, node.then, node.else].flatMap((branch) => below(branch, path, of)),
      ...objects(node.properties).flatMap(([key, schema]) =>
        below(schema, [...path, { key, of }], propertyOf(document, of, key)),
      ),
      ...below(node.items, [...path, { key: 0, of }], []),
      ...items.flatMap((schema, key) => below(schema, [...path, { key, of }], [])),
    ];
  };
  return below(root, [], []);
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
