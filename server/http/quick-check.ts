import type { Ajv } from 'ajv';
import type { Request } from 'express';
import { isSchema, type Json, resolve, type Schema } from './form-types.ts';

/** Whether a request surely passes; what does not is for the validator itself, which says why. */
export type QuickCheck = (request: Request, params: Readonly<Record<string, string>>) => boolean;

const noQuery = {};

/**
 * Asks the tests that the contract's validator has compiled for an operation, and nothing else: beside them it reads the
 * address, the content type and each parameter's style anew for every request, which takes longer than the tests.
 * Undefined where that may change a value, or where there are no such tests.
 *
 * @param compilers of parameters and of bodies, which keep each test by `key`
 * @param operation as the document `root` describes it
 */
export function quickCheck(
  compilers: readonly [parameters: Ajv, bodies: Ajv],
  key: string,
  operation: Schema,
  root: Json,
): QuickCheck | undefined {
  const [parametersPass, bodyPasses] = compilers.map((ajv) => ajv.getSchema(key));
  if (parametersPass === undefined || bodyPasses === undefined) return undefined;
  const { parameters = [] } = operation;
  if (!Array.isArray(parameters) || !parameters.every((one) => isTakenAsItComes(one, root))) return undefined;
  return (request, params) => {
    if (request.url.includes('?')) return false;
    const data = { query: noQuery, headers: request.headers, params, body: request.body };
    return parametersPass(data) === true && bodyPasses(data) === true;
  };
}

/** A header or a part of the path, of no style of its own, that is one value. */
function isTakenAsItComes(parameter: Json, root: Json): boolean {
  const { in: place, schema, content, style = 'simple', explode = false } = resolved(parameter, root);
  const { type = 'string' } = resolved(schema, root);
  const single = typeof type === 'string' && type !== 'array' && type !== 'object';
  return (
    (place === 'path' || place === 'header') &&
    content === undefined &&
    single &&
    style === 'simple' &&
    !explode
  );
}

function resolved(node: Json | undefined, root: Json): Schema {
  if (!isSchema(node)) return {};
  return typeof node.$ref === 'string' ? resolved(resolve(root, node.$ref), root) : node;
}
