import { describe, expect, test } from 'vitest';
import { type JsonObject, objects, text } from '../../../openapi/tools/document.ts';
import { bundle, documentedOperations } from '../../conformance/contract/documented.ts';
import { errorBodies } from './errors.ts';
import { fieldProblems } from './field-problems.ts';
import { apiKeyHeader, browserKey, type PathRow, paths } from './paths.ts';

describe('paths', () => {
  const operations = [...documentedOperations.values()];
  const nodes = new Map(
    objects(bundle.paths).flatMap(([path, item]) =>
      objects(item).map(([method, node]): [string, JsonObject] => [`${method} ${path}`, node]),
    ),
  );
  const nodeOf = ({ method, path }: Pick<PathRow, 'method' | 'path'>) => nodes.get(`${method} ${path}`) ?? {};
  const securityOf = (node: JsonObject) => node.security ?? bundle.security;

  test.each(paths)('$method $path', (row) => {
    const node = nodeOf(row);
    const found = operations.find(({ method, path }) => method === row.method && path === row.path);
    expect(found).toBeDefined();
    expect(node['x-error-family']).toBe(row.errors);
    const parameters = (found?.parameters ?? []).map(
      ({ name, in: place, required }) => `${place} ${name}${required ? '!' : ''}`,
    );
    expect(parameters).toEqual(
      expect.arrayContaining([
        ...(row.headers ?? []).map((name) => `header ${name}`),
        ...(row.query ?? []).map((name) => expect.stringMatching(`^query ${name}!?$`)),
      ]),
    );
    for (const name of row.path.match(/(?<=\{)[^}]+/g) ?? []) expect(parameters).toContain(`path ${name}!`);
    const successes = (found?.responses ?? []).filter(({ status }) => status < 300);
    const content = successes.flatMap((one) => one.content);
    const json = ({ mediaType }: { mediaType: string }) => mediaType === 'application/json';
    const requestSchemas = (found?.requests ?? []).filter(json).map(({ schema }) => schema);
    const responseSchemas = content.filter(json).map(({ schema }) => schema);
    expect(fieldProblems(requestSchemas, row.request ?? {})).toEqual([]);
    expect(fieldProblems(responseSchemas, row.response ?? {})).toEqual([]);
    expect(content.map(({ mediaType }) => mediaType)).toEqual(expect.arrayContaining([...(row.media ?? [])]));
  });

  test('all other operations are extensions', () => {
    const known = new Set(paths.map(({ method, path }) => `${method} ${path}`));
    const others = [...nodes].filter(([at, node]) => !known.has(at) && text(node.operationId) !== '');
    expect(others.filter(([, node]) => node['x-extension'] !== true).map(([at]) => at)).toEqual([]);
    const marked = [...nodes].filter(([at, node]) => known.has(at) && node['x-extension'] === true);
    expect(marked.map(([at]) => at)).toEqual([]);
  });

  const acceptsBrowserKey = (path: string) => browserKey.paths.some((one) => one === path);
  test('every path accepts the Bearer key, and only the listed paths accept another header', () => {
    const schemes = new Map(objects((bundle.components as JsonObject).securitySchemes));
    for (const row of paths) {
      const names = (securityOf(nodeOf(row)) as JsonObject[]).flatMap((one) => Object.keys(one));
      const kinds = names.map((name) => schemes.get(name));
      expect(kinds).toContainEqual(expect.objectContaining({ type: 'http', scheme: 'bearer' }));
      const header = expect.objectContaining({ type: 'apiKey', in: 'header', name: apiKeyHeader.name });
      if (apiKeyHeader.paths.some((path) => path === row.path)) expect(kinds).toContainEqual(header);
      else
        expect(
          names.filter((name) => name !== browserKey.scheme || !acceptsBrowserKey(row.path)),
        ).toHaveLength(1);
    }
  });

  test.each(paths)('$method $path returns every error in the $errors format', (row) => {
    const found = operations.find(({ method, path }) => method === row.method && path === row.path);
    const failures = (found?.responses ?? []).filter(({ status }) => status >= 400);
    expect(failures.length).toBeGreaterThan(0);
    for (const { status, content } of failures) {
      const roots = content.map(({ schema }) => schema);
      // Errors of the gateway are generic on native routes, so not every status has both formats.
      const body = row.errors === 'native' && status !== 400 ? errorBodies.generic : errorBodies[row.errors];
      expect(fieldProblems(roots, body), String(status)).toEqual([]);
    }
  });
});
