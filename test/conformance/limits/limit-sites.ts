import { isObject, type Json, type JsonObject, objects } from '../../../openapi/tools/document.ts';
import { nodeAt } from '../contract/schema-fields.ts';

/** A step from an object or a list to a value in it. */
export interface Step {
  /** Name of a field; a number for an item. */
  key: string | number;
  /** The schemas of the object or list that contains the value. */
  of: readonly JsonObject[];
}

/** A schema with limits, and the path of the values that it limits. */
export interface Site {
  node: JsonObject;
  path: readonly Step[];
  /** All schemas that apply to the limited value. */
  of: readonly JsonObject[];
  /** Whether the value is the tag of a union whose last member accepts every other value. */
  isOpenTag: boolean;
}

/**
 * Returns every schema that may apply to a value below `root`, with the path of that value. Ignores `if`, `not` and
 * `contains`, which only select values.
 */
export function limitSites(document: JsonObject, root: JsonObject): Site[] {
  const below = (
    node: Json | undefined,
    path: readonly Step[],
    around: readonly JsonObject[],
    tag?: string,
    isOpenTag = false,
  ): Site[] => {
    if (!isObject(node)) return [];
    const of = [...around, ...requiredSchemas(document, node)];
    const here: Site = { node, path, of, isOpenTag };
    if (typeof node.$ref === 'string') {
      const target = nodeAt(document, node.$ref);
      // Visits a recursive schema once, because its limits repeat.
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

/** Returns the tag of a union whose last member accepts every value except those of the other members. */
function openTagOf(document: JsonObject, members: Json | undefined): string | undefined {
  const last = Array.isArray(members) ? members.at(-1) : undefined;
  if (!isObject(last)) return undefined;
  const properties = requiredSchemas(document, last).flatMap((one) => objects(one.properties));
  return properties.find(([, schema]) => isObject(schema.not))?.[0];
}

/** Returns the schemas of a field. */
const propertyOf = (document: JsonObject, of: readonly JsonObject[], key: string): JsonObject[] =>
  of.flatMap(({ properties }) => {
    const schema = isObject(properties) ? properties[key] : undefined;
    return isObject(schema) ? requiredSchemas(document, schema) : [];
  });

/** Returns the schemas that apply to a value in every branch. */
function requiredSchemas(document: JsonObject, node: JsonObject): JsonObject[] {
  const all = Array.isArray(node.allOf) ? node.allOf.filter(isObject) : [];
  const target = typeof node.$ref === 'string' ? nodeAt(document, node.$ref) : undefined;
  return [
    node,
    ...[...all, ...(isObject(target) ? [target] : [])].flatMap((one) => requiredSchemas(document, one)),
  ];
}
