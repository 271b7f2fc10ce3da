import {
  deref,
  isObject,
  type JsonObject,
  type Operation,
  objects,
  operationsOf,
  strings,
  text,
} from '../document.ts';
import type { ErrorEntry } from '../errors.ts';
import { cell, prose } from './markdown-text.ts';
import { areaTitle, operationName } from './operation-names.ts';
import { fieldsTable, typeOf } from './schema-table.ts';

/** Returns a page for each area of the HTTP interface, by path, with a heading for each operation, and an index. */
export function httpPages(openapi: JsonObject, errors: readonly ErrorEntry[]): Map<string, string> {
  const codes = new Set(errors.map(({ code }) => code));
  const shown = operationsOf(openapi).filter(({ aliasOf }) => aliasOf === undefined);
  const tags = (Array.isArray(openapi.tags) ? openapi.tags : []).filter(isObject);
  const areas = new Map(
    tags.map((tag) => {
      const name = text(tag.name);
      const operations = shown.filter(({ node }) => strings(node.tags).includes(name));
      const sections = operations.map((operation) => sectionOf(openapi, codes, operation));
      const markdown = `# ${areaTitle(name)}\n\n${prose(text(tag.description))}\n\n${sections.join('\n\n')}\n`;
      return [`docs/http/${name}`, markdown] as const;
    }),
  );
  const rows = tags.map((tag) => {
    const name = text(tag.name);
    return `| [${areaTitle(name)}](/docs/http/${name}) | ${cell(text(tag.description))} |`;
  });
  const index = `# HTTP operations\n\nAll operations, by area. The [API reference](/docs/reference) can also send requests.\n\n| area | operations |\n|---|---|\n${rows.join('\n')}\n`;
  return new Map([['docs/http/index', index], ...areas]);
}

function sectionOf(openapi: JsonObject, codes: ReadonlySet<string>, operation: Operation): string {
  const { id, method, path, node } = operation;
  const parts = [
    `## ${operationName(id)} {#${id}}`,
    `\`${method.toUpperCase()} ${path}\` · [\`${id}\` in the API reference](/docs/reference#operation/${id})`,
    prose(text(node.summary)),
    prose(text(node.description)),
    parametersTable(openapi, node),
    bodySection(openapi, node),
    responsesTable(openapi, codes, node),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function parametersTable(openapi: JsonObject, { parameters }: JsonObject): string {
  if (!Array.isArray(parameters) || parameters.length === 0) return '';
  const rows = parameters.map((one) => {
    const parameter = deref(openapi, one);
    const required = parameter.required === true ? ' (required)' : '';
    const type = cell(typeOf(openapi, parameter.schema));
    return `| \`${text(parameter.name)}\`${required} | ${text(parameter.in)} | ${type} | ${cell(text(parameter.description))} |`;
  });
  return ['**Parameters**', '', '| name | in | type | description |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function bodySection(openapi: JsonObject, node: JsonObject): string {
  const [first] = objects(deref(openapi, node.requestBody).content);
  if (first === undefined) return '';
  const table = fieldsTable(openapi, first[1].schema);
  return table === '' ? '' : `**Body** \`${first[0]}\`\n\n${table}`;
}

function responsesTable(openapi: JsonObject, codes: ReadonlySet<string>, { responses }: JsonObject): string {
  const rows = objects(responses).map(([status, node]) => {
    const response = deref(openapi, node);
    const found = objects(response.content).flatMap(([, media]) => codesOf(openapi, media));
    return `| ${status} | ${cell(text(response.description))} | ${[...new Set(found)].map((code) => codeText(code, codes)).join(', ')} |`;
  });
  return ['**Responses**', '', '| status | meaning | error codes |', '|---|---|---|', ...rows].join('\n');
}

/** Returns a code with a link to the catalog, which has no codes of providers. */
const codeText = (code: string, codes: ReadonlySet<string>) =>
  codes.has(code) ? `[\`${code}\`](/docs/errors#${code})` : `\`${code}\``;

/** Returns the codes in the examples of an error. */
function codesOf(openapi: JsonObject, media: JsonObject): string[] {
  return objects(media.examples).flatMap(([, example]) => {
    const { value } = deref(openapi, example);
    const error = isObject(value) && isObject(value.error) ? value.error : {};
    return typeof error.code === 'string' ? [error.code] : [];
  });
}
