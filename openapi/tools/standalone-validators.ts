import type { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { isObject, type Json, type JsonObject, text } from './document.ts';

/** Renders an ES module with the named validators, which needs only the runtime of Ajv. `validators`: references of schemas by name. */
export function standaloneSource(ajv: Ajv, validators: Readonly<Record<string, string>>): string {
  return importing(standalone.default(ajv, validators));
}

/** Replaces require() of the standalone code with imports, because the output is an ES module. */
function importing(code: string): string {
  const imports = new Map<string, string>();
  const body = code.replace(/require\("([^"]+)"\)(\.default)?/g, (_, module: string, byDefault?: string) => {
    const path = /\.\w+$/.test(module) ? module : `${module}.js`;
    if (!imports.has(path)) imports.set(path, `runtime${imports.size}`);
    const name = String(imports.get(path));
    // Node imports a CommonJS module as a whole; bundlers and test runners unwrap its default.
    return byDefault === undefined ? name : `(${name}.default ?? ${name})`;
  });
  const lines = [...imports].map(([path, name]) => `import ${name} from '${path}';\n`);
  return `${lines.join('')}${body.replace(/^"use strict";\n?/, '')}`;
}

const maps = new Set(['$defs', 'dependentSchemas', 'patternProperties', 'properties']);
const data = new Set(['const', 'enum']);
const annotations = new Set([
  'default',
  'deprecated',
  'description',
  'example',
  'examples',
  'readOnly',
  'title',
]);

/** Copies a schema for Ajv, with refs into $defs and without annotations. */
export function schemaForAjv(schema: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (annotations.has(key) || key.startsWith('x-')) continue;
    if (data.has(key)) copy[key] = value;
    else if (maps.has(key) && isObject(value)) copy[key] = schemasForAjv(value);
    else if (key === '$ref') copy[key] = text(value).replace('#/components/schemas/', '#/$defs/');
    else copy[key] = valueForAjv(value);
  }
  return copy;
}

/** Copies schemas by name for Ajv. */
export const schemasForAjv = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, valueForAjv(schema)]));

function valueForAjv(value: Json): Json {
  if (Array.isArray(value)) return value.map(valueForAjv);
  return isObject(value) ? schemaForAjv(value) : value;
}
