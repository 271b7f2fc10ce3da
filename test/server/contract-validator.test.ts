import { globSync, readFileSync } from 'node:fs';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import { describe, expect, test } from 'vitest';

const home = 'server/http/contract.ts';
const library = 'express-openapi-validator';

/** What is taken from inside the library, which does not promise to keep it: the file, a class of it, and its method. */
const parts: readonly [file: string, name: string, method: string][] = [
  ['dist/framework/openapi.spec.loader.js', 'OpenApiSpecLoader', 'load'],
  ['dist/middlewares/openapi.request.validator.js', 'RequestValidator', 'validate'],
  ['dist/middlewares/parsers/schema.preprocessor.js', 'SchemaPreprocessor', 'preProcess'],
];

const hint = `${library} has changed inside: pin the version before, or mend ${home}`;

describe('of express-openapi-validator', () => {
  test(`only ${home} knows, and of its inside only the parts of this list`, () => {
    const imports = globSync('server/**/*.ts', { exclude: ['**/node_modules/**'] }).flatMap((file) =>
      Array.from(
        readFileSync(file, 'utf8').matchAll(new RegExp(`from '(${library}[^']*)'`, 'g')),
        ([, path = '']) => `${file} ${path}`,
      ),
    );
    const typesOnly = `${library}/dist/framework/types.js`;
    expect(imports.sort()).toEqual(
      [typesOnly, ...parts.map(([file]) => `${library}/${file}`)].map((path) => `${home} ${path}`).sort(),
    );
  });

  test.each(parts)('%s still has %s with %s', async (file, name, method) => {
    const module = (await import(`${library}/${file}`).catch(() => ({}))) as Record<string, unknown>;
    const part = module[name] as { prototype?: Record<string, unknown> } | undefined;
    expect(part?.prototype?.[method], hint).toBeTypeOf('function');
  });

  test('the request validator still keeps a schema compiler for parameters and one for bodies', () => {
    type Contract = ConstructorParameters<typeof RequestValidator>[0];
    const contract = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as Contract;
    const validator = new RequestValidator(contract, { serDesMap: {}, formats: {} });
    for (const name of ['ajv', 'ajvBody'])
      expect(Reflect.get(validator, name), hint).toMatchObject({
        addKeyword: expect.any(Function),
        removeKeyword: expect.any(Function),
      });
  });
});
