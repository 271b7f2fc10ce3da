import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { bodyLimits } from './body-limits.ts';
import { explain, type Forms, formsOf, type Violation } from './explain.ts';
import { isSchema, type Json, property, resolve, type Schema } from './form-types.ts';
import { countLess, formats, tagUnions, useContractWords } from './keywords.ts';
import { modelFailure } from './model-failure.ts';
import { operationIn, requestDocument } from './request-document.ts';
import { type Operation, routes } from './routes.ts';
import { requirePlain } from './value-problem.ts';

/** Values reach the handlers as they were sent: no defaults, nothing removed. */
const options: Options = { strict: false, validateSchema: false, discriminator: true };

/** Compiled checks by bundle: every application of the process shares them. */
const checksByBundle = new WeakMap<object, Map<OperationId, RequestCheck>>();

/**
 * Validates path, query, headers and body of a request against its operation in the OpenAPI bundle. Parameters get the
 * types of the contract; the body stays as it was sent. Schemas are compiled at the first request of an operation.
 *
 * @throws Error when the bundle lacks an operation. The middleware fails with Failure 400, which names the field.
 */
export function validateRequest(bundle: object) {
  const checks = checksByBundle.get(bundle) ?? new Map<OperationId, RequestCheck>();
  checksByBundle.set(bundle, checks);
  for (const { operation, path } of routes) {
    if (operationIn(bundle, operation) === undefined)
      throw new Error(`the bundle has no ${operation.method} ${path}`);
  }
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { call, headers, body } = request;
    const { operation, params, query } = call;
    if (operation === undefined) {
      next();
      return;
    }
    // A longer text is inline media, which is checked while the body is read.
    const maxTextBytes = bodyLimits(operation, Number.POSITIVE_INFINITY).textBytes;
    requirePlain(params, 'path', maxTextBytes);
    requirePlain(query, 'query', maxTextBytes);
    if (!call.isBodyPlain) requirePlain(body, 'body', maxTextBytes);
    let check = checks.get(operation.id);
    if (check === undefined) {
      check = compileCheck(bundle, operation);
      checks.set(operation.id, check);
    }
    for (const name of check.lists)
      if (typeof query[name] === 'string') call.query = { ...call.query, [name]: [query[name]] };
    const { parametersPass, bodyPasses, forms } = check;
    const isValid = parametersPass({ params, query: call.query, headers });
    if (bodyPasses({ body }) && isValid) next();
    else next(failureOf(operation.id, body, [...errorsOf(parametersPass), ...errorsOf(bodyPasses)], forms));
  };
}

interface RequestCheck {
  /** Converts parameters to numbers and booleans in place. */
  parametersPass: ValidateFunction;
  bodyPasses: ValidateFunction;
  /** Query parameters that are lists: repeated, or sent once. */
  lists: readonly string[];
  forms: Forms;
}

function compileCheck(bundle: object, operation: Operation): RequestCheck {
  const document = tagUnions(requestDocument(bundle, operation)) as Schema;
  const { parameters, requestBody } = operationIn(document, operation) ?? {};
  const resolved = (node: Json | undefined): Schema => {
    if (!isSchema(node)) return {};
    return typeof node.$ref === 'string' ? resolved(resolve(document, node.$ref)) : node;
  };
  const all = (Array.isArray(parameters) ? parameters : []).map(resolved);
  const schemaAt = (place: string): Schema => {
    const here = all.filter((parameter) => parameter.in === place);
    const nameOf = (one: Schema) => (place === 'header' ? nameIn(one).toLowerCase() : nameIn(one));
    return {
      type: 'object',
      properties: Object.fromEntries(here.map((one) => [nameOf(one), one.schema ?? {}])),
      required: here.filter(({ required }) => required === true).map(nameOf),
    };
  };
  const { content, required = false } = resolved(requestBody);
  const json = resolved(property(content, 'application/json'));
  const components = document.components ?? {};
  return {
    parametersPass: compiler({ ...options, coerceTypes: true }).compile({
      components,
      properties: { params: schemaAt('path'), query: schemaAt('query'), headers: schemaAt('header') },
    }),
    bodyPasses: compiler(options).compile({
      components,
      properties: { body: json.schema ?? {} },
      required: required === true ? ['body'] : [],
    }),
    lists: all.filter((one) => one.in === 'query' && resolved(one.schema).type === 'array').map(nameIn),
    forms: formsOf(document),
  };
}

function nameIn({ name }: Schema): string {
  return typeof name === 'string' ? name : '';
}

function compiler(settings: Options): Ajv2020 {
  const ajv = addFormats.default(new Ajv2020(settings), { mode: 'fast' });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  countLess(ajv);
  useContractWords(ajv);
  return ajv;
}

function errorsOf({ errors }: ValidateFunction): ErrorObject[] {
  return errors ?? [];
}

function failureOf(
  operation: OperationId,
  body: unknown,
  errors: readonly ErrorObject[],
  forms: Forms,
): Failure {
  const violations = errors.map(violationOf);
  for (const violation of violations) {
    const failure = modelFailure(operation, body, violation);
    if (failure !== undefined) return failure;
  }
  return new Failure(400, 'invalid_request', `${explain(violations, forms)}.`);
}

function violationOf({ keyword, instancePath, message = 'is invalid', params }: ErrorObject): Violation {
  const property: unknown = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const allowed: unknown = keyword === 'enum' ? params.allowedValues : undefined;
  return {
    keyword,
    path: typeof property === 'string' ? `${instancePath}/${property}` : instancePath,
    message: Array.isArray(allowed) ? `${message}: ${allowed.join(', ')}` : message,
  };
}
