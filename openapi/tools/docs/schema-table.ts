import { deref, isObject, type Json, type JsonObject, objects, strings, text } from '../document.ts';
import { cell } from './markdown-text.ts';

/** Renders the fields of an object schema as a table. Empty if it has none. */
export function fieldsTable(document: JsonObject, node: Json | undefined): string {
  const fields = fieldsOf(document, node);
  if (fields.length === 0) return '';
  const rows = fields.map(
    ({ name, schema, isRequired }) =>
      `| \`${name}\`${isRequired ? ' (required)' : ''} | ${cell(typeOf(document, schema))} | ${cell(text(schema.description))} |`,
  );
  return ['| field | type | description |', '|---|---|---|', ...rows].join('\n');
}

interface Field {
  name: string;
  schema: JsonObject;
  isRequired: boolean;
}

/** Returns the fields of a schema and of the schemas that it combines, each name once. */
function fieldsOf(document: JsonObject, node: Json | undefined): Field[] {
  const schema = deref(document, node);
  const required = strings(schema.required);
  const own = objects(schema.properties).map(([name, property]) => ({
    name,
    schema: { ...deref(document, property), ...property },
    isRequired: required.includes(name),
  }));
  const combined = ['allOf', 'oneOf', 'anyOf'].flatMap((key) => {
    const parts = schema[key];
    return Array.isArray(parts) ? parts.flatMap((part) => fieldsOf(document, part)) : [];
  });
  return [
    ...new Map([...own, ...combined].toReversed().map((field) => [field.name, field])).values(),
  ].toReversed();
}

/** Describes the type and the range of a schema in a few words. */
export function typeOf(document: JsonObject, node: Json | undefined): string {
  const schema = isObject(node) && node.type === undefined ? { ...deref(document, node), ...node } : node;
  if (!isObject(schema)) return '';
  const values = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? [] : [schema.const];
  if (values.length > 0) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const name =
    [schema.type]
      .flat()
      .filter((type) => typeof type === 'string')
      .join(' or ') || 'object';
  const range = [
    bound('from', schema.minimum ?? schema.exclusiveMinimum),
    bound('to', schema.maximum ?? schema.exclusiveMaximum),
    bound('up to', schema.maxLength, 'characters'),
    bound('up to', schema.maxItems, 'items'),
  ];
  return [name, ...range].filter((part) => part !== '').join(' ');
}

const bound = (word: string, value: Json | undefined, unit = '') =>
  typeof value === 'number' ? `${word} ${value.toLocaleString('en-US')} ${unit}`.trim() : '';
