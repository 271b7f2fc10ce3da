import { readFileSync } from 'node:fs';
import type { Request, Response } from 'express';
import { describe, expect, test, vi } from 'vitest';
import { operationIds, operations } from '../../generated/operations.ts';
import { validateRequest } from '../../server/http/validate-request.ts';
import { Failure } from '../../server/lib/failure.ts';

/** The gateway compiles the schemas of an operation on its first call, so this test compiles all of them. */
describe('the request validator', () => {
  const bundle = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as Bundle;

  test.each(operationIds)('compiles the schemas of %s, with a body and without', (id) => {
    const validate = validateRequest(() => bundle);
    for (const body of [{}, undefined]) expect(outcome(validate, id, body)).toBe('validated');
  });

  test('fails only the operation with an invalid schema', () => {
    const broken = structuredClone(bundle);
    broken.components.schemas.SpeechRequest = { type: 'nonsense' };
    const validate = validateRequest(() => broken);
    expect(outcome(validate, 'createSpeech', {})).not.toBe('validated');
    expect(outcome(validate, 'createMessage', {})).toBe('validated');
  });

  test('names a missing component', () => {
    const broken = structuredClone(bundle);
    delete broken.components.schemas.SpeechRequest;
    expect(
      outcome(
        validateRequest(() => broken),
        'createSpeech',
        {},
      ),
    ).toContain("can't resolve reference #/components/schemas/SpeechRequest from id contract");
  });

  test('fails every request with input if an operation is missing', () => {
    const broken = structuredClone(bundle);
    delete broken.paths[operations.createSpeech.path];
    const validate = validateRequest(() => broken);
    expect(outcome(validate, 'createMessage', {})).toContain('the bundle has no post /v1/audio/speech');
  });

  test('does not need the bundle for an operation without input', () => {
    const source = vi.fn(() => bundle);
    const validate = validateRequest(source);
    expect(operations.getReadiness).toHaveProperty('noInput', true);
    expect(outcome(validate, 'getReadiness', undefined)).toBe('validated');
    expect(source).not.toHaveBeenCalled();
    expect(outcome(validate, 'createMessage', {})).toBe('validated');
    expect(source).toHaveBeenCalledTimes(1);
  });
});

interface Bundle {
  paths: Record<string, unknown>;
  components: { schemas: Record<string, object> };
}

/** Returns `validated` if the request was accepted or refused, otherwise the error message. */
function outcome(
  validate: ReturnType<typeof validateRequest>,
  id: (typeof operationIds)[number],
  body: unknown,
) {
  const operation = { ...operations[id], id };
  const params = Object.fromEntries(
    Array.from(operation.path.matchAll(/\{([^}]+)\}/g), ([, name]) => [name, 'x']),
  );
  const request = {
    context: { operation, params, query: {} },
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
  const [error] = next.mock.calls[0] ?? [new Error('next was not called')];
  if (error === undefined || error instanceof Failure) return 'validated';
  return error instanceof Error ? error.message : 'unknown error';
}
