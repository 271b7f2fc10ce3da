import { isSchema, type Json, property, resolveReference, type Schema } from './contract-schema.ts';
import type { FormValue } from './form-fields.ts';
import { fieldName } from './form-parts.ts';
import { parseJsonText } from './parse-json.ts';
import type { Operation } from './routes.ts';
import { requirePlainValues } from './value-problem.ts';

/** Returns the schema of an operation's JSON body, and the names of the parts of its form that are files. */
export function formSchemas(root: Json, { path, method }: Operation): { body: Json; files: Set<string> } {
  const [body = {}, form] = ['application/json', 'multipart/form-data'].map((mediaType) =>
    ['paths', path, method, 'requestBody', 'content', mediaType, 'schema'].reduce(property, root),
  );
  const parts = expandSchemas([form], root).flatMap(({ properties }) => Object.entries(properties ?? {}));
  const files = parts.filter(([, part]) => property(part, 'format') === 'binary').map(([name]) => name);
  return { body, files: new Set(files) };
}

/**
 * Converts the texts of a form to the types of the JSON schema: numbers, booleans, lists of one item, and JSON text for
 * objects and lists. A text that cannot be converted stays a text, which validation refuses. `root` is the document of
 * the references.
 *
 * @throws Failure 400 that names a field with invalid JSON text
 */
export function convertForm(value: FormValue, schema: Json, root: Json): Json {
  return convert(value, expandSchemas([schema], root), root, []);
}

function convert(value: FormValue, schemas: readonly Schema[], root: Json, path: readonly string[]): Json {
  if (Array.isArray(value)) {
    const items = expandSchemas(
      schemas.flatMap(({ items: of }) => of ?? []),
      root,
    );
    return value.map((item, index) => convert(item, items, root, [...path, String(index)]));
  }
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const below = schemas.map(({ properties }) => property(properties, key));
        return [key, convert(inner, expandSchemas(below, root), root, [...path, key])];
      }),
    );
  }
  const types = new Set(schemas.flatMap(({ type }) => type ?? []));
  if (types.has('string')) return value;
  const opening = value.trimStart()[0];
  if ((types.has('object') && opening === '{') || (types.has('array') && opening === '[')) {
    const field = fieldName(path.join('.'));
    const parsed = parseJsonText(value, field) as Json;
    // Escapes in JSON text can produce characters that the form does not contain.
    requirePlainValues(parsed, field);
    return parsed;
  }
  if (types.has('array')) return convert([value], schemas, root, path);
  if (types.has('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  const numeric = (types.has('integer') || types.has('number')) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
  return numeric ? Number(value) : value;
}

/** The schemas with all of their `allOf`, `anyOf`, `oneOf`, `then` and `else` members and references. */
function expandSchemas(schemas: readonly (Json | undefined)[], root: Json): Schema[] {
  const found = new Set<Schema>();
  const visit = (node: Json | undefined): void => {
    if (!isSchema(node) || found.has(node)) return;
    found.add(node);
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const members = node[keyword];
      if (Array.isArray(members)) members.forEach(visit);
    }
    visit(node.then);
    visit(node.else);
    if (typeof node.$ref === 'string') visit(resolveReference(root, node.$ref));
  };
  schemas.forEach(visit);
  return [...found];
}
