import { globSync, readFileSync } from 'node:fs';
import type { Request, Response } from 'express';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import { describe, expect, test, vi } from 'vitest';
import { operationIds, operations } from '../../generated/operations.ts';
import { contractValidator } from '../../server/http/contract.ts';
import { Failure } from '../../server/lib/failure.ts';

const home = 'server/http/contract.ts';
const library = 'express-openapi-validator';

/** What is taken from inside the library, which does not promise to keep it: the file, a class of it, and its method. */
const parts: readonly [file: string, name: string, method: string][] = [
  ['dist/middlewares/openapi.request.validator.js', 'RequestValidator', 'validate'],
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

/** The gateway compiles the schemas of an operation when it is first called, so what is broken must be seen here. */
describe('the schemas of', () => {
  const bundle = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as Bundle;

  test.each(operationIds)('%s compile, with a body and without', (id) => {
    const validate = contractValidator(bundle);
    for (const body of [{}, undefined]) expect(outcome(validate, id, body)).toBe('judged');
  });

  test('an operation that are broken are no judgement, and leave the others alone', () => {
    const broken = structuredClone(bundle);
    broken.components.schemas.SpeechRequest = { type: 'nonsense' };
    const validate = contractValidator(broken);
    expect(outcome(validate, 'createSpeech', {})).not.toBe('judged');
    expect(outcome(validate, 'createMessage', {})).toBe('judged');
  });

  test('a component that is missing is named', () => {
    const broken = structuredClone(bundle);
    delete broken.components.schemas.SpeechRequest;
    expect(outcome(contractValidator(broken), 'createSpeech', {})).toContain(
      'the bundle has no #/components/schemas/SpeechRequest',
    );
  });

  test('an operation that is missing ends the start', () => {
    const broken = structuredClone(bundle);
    delete broken.paths[operations.createSpeech.path];
    expect(() => contractValidator(broken)).toThrow('the bundle has no post /v1/audio/speech');
  });
});

interface Bundle {
  paths: Record<string, unknown>;
  components: { schemas: Record<string, object> };
}

/** `judged` when a request was let through or refused; else what went wrong. */
function outcome(
  validate: ReturnType<typeof contractValidator>,
  id: (typeof operationIds)[number],
  body: unknown,
) {
  const operation = { ...operations[id], id };
  const params = Object.fromEntries(
    Array.from(operation.path.matchAll(/\{([^}]+)\}/g), ([, name]) => [name, 'x']),
  );
  const request = {
    call: { operation, params },
    method: operation.method.toUpperCase(),
    path: operation.path,
    url: '/',
    originalUrl: operation.path,
    headers: {},
    query: {},
    body,
  } as unknown as Request;
  const next = vi.fn<(error?: unknown) => void>();
  try {
    validate(request, {} as Response, next);
  } catch (error) {
    return String(error);
  }
  const [error] = next.mock.calls[0] ?? [new Error('nothing came of it')];
  if (error === undefined || error instanceof Failure) return 'judged';
  return error instanceof Error ? error.message : 'something else';
}
