import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  objects,
  strings,
} from '../../openapi/tools/document.ts';
import { placeOf } from './limits.ts';

/**
 * Required and nullable fields of an object in a response or event: `id` is required, `error|null` is required and
 * nullable, `error?|null` is optional and nullable. Other optional fields are not listed.
 */
export type ResponseFields = Readonly<Record<string, string>>;

/** Returns the fields of every object that the gateway sends, by location. Covers responses, callbacks and events. */
export function responseFields(document: JsonObject): Map<string, string> {
  const found = new Map<string, string>();
  const visited = new Set<string>();
  const visit = (node: Json | undefined, pointer: string): void => {
    if (!isObject(node)) return;
    if (typeof node.$ref === 'string') {
      const { $at = '', ...target } = deref(document, node);
      if (!visited.has($at)) visit(target, $at);
      visited.add($at);
      return;
    }
    const fields = fieldsOf(node, document);
    if (fields !== '') found.set(placeOf(pointer, document), fields);
    for (const [name, schema] of objects(node.properties)) visit(schema, `${pointer}/properties/${name}`);
    for (const key of ['items', 'additionalProperties', 'then', 'else'])
      visit(node[key], `${pointer}/${key}`);
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const branches = node[key];
      if (Array.isArray(branches))
        for (const [index, one] of branches.entries()) visit(one, `${pointer}/${key}/${index}`);
    }
  };
  for (const { node, pointer } of sentSchemas(document)) visit(node, pointer);
  return found;
}

function fieldsOf(schema: JsonObject, document: JsonObject): string {
  const required = new Set(strings(schema.required));
  const properties = new Map(objects(schema.properties));
  const names = [...new Set([...required, ...properties.keys()])].toSorted();
  return names
    .flatMap((name) => {
      const nullable = isNullable(properties.get(name), document) ? '|null' : '';
      if (required.has(name)) return [`${name}${nullable}`];
      return nullable === '' ? [] : [`${name}?${nullable}`];
    })
    .join(' ');
}

function isNullable(node: Json | undefined, document: JsonObject): boolean {
  const { type, enum: values, const: constant, anyOf, oneOf } = deref(document, node);
  if (type === 'null' || constant === null) return true;
  if (Array.isArray(values)) return values.includes(null);
  if (strings(type).includes('null')) return true;
  return [anyOf, oneOf].some(
    (branches) => Array.isArray(branches) && branches.some((one) => isNullable(one, document)),
  );
}

/** Yields the schemas of responses, callbacks and sent events, with their pointers. */
function* sentSchemas(document: JsonObject): Generator<{ node: Json | undefined; pointer: string }> {
  for (const [path, item] of objects(document.paths))
    for (const [method, operation] of objects(item)) {
      const pointer = `#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`;
      for (const [status, response] of objects(operation.responses))
        yield* contentSchemas(deref(document, response), `${pointer}/responses/${status}`);
      for (const [name, callback] of objects(operation.callbacks))
        for (const [, request] of objects(deref(document, callback)))
          for (const [, { requestBody }] of objects(request))
            yield* contentSchemas(deref(document, requestBody), `${pointer}/callbacks/${name}`);
    }
  for (const [, { action, messages }] of objects(document.operations))
    if (action === 'send' && Array.isArray(messages))
      for (const message of messages) {
        const { $at = '', payload } = deref(document, message);
        yield { node: payload, pointer: `${$at}/payload` };
      }
}

function* contentSchemas(
  { $at, content }: JsonObject & { $at?: string },
  pointer: string,
): Generator<{ node: Json | undefined; pointer: string }> {
  for (const [type, { schema }] of objects(content))
    yield { node: schema, pointer: `${$at ?? pointer}/content/${type.replaceAll('/', '~1')}/schema` };
}
