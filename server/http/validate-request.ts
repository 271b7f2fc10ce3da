import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { bodyLimits } from './body-limits.ts';
import { describeViolations, type PatternMessages, patternMessagesIn, type Violation } from './explain.ts';
import { dereference, type Json, property, type Schema } from './form-types.ts';
import { formats, tagUnions, useContractMessages, useFastLengths } from './keywords.ts';
import { operationIn, requestDocument } from './request-document.ts';
import { type Operation, routes } from './routes.ts';
import { requirePlainValues } from './value-problem.ts';

/** Values reach the handlers as they were sent: no defaults, nothing removed. */
const options: Options = { strict: false, validateSchema: false, discriminator: true };

/** A failure with more specific words for a violation than the schema has. Undefined: the schema's words are used. */
export type ViolationExplainer = (
  operation: OperationId,
  body: unknown,
  violation: Violation,
) => Failure | undefined;

/** Compiled checks by bundle: every application of the process shares them. */
const checksByBundle = new WeakMap<object, Map<OperationId, RequestCheck>>();

/**
 * Validates path, query, headers and body of a request against its operation in the OpenAPI bundle. Parameters get the
 * types of the contract; the body stays as it was sent. Schemas are compiled at the first request of an operation.
 *
 * @throws Error when the bundle lacks an operation. The middleware fails with Failure 400, which names the field.
 */
export function validateRequest(bundle: object, explainer: ViolationExplainer = () => undefined) {
  const checks = checksByBundle.get(bundle) ?? new Map<OperationId, RequestCheck>();
  checksByBundle.set(bundle, checks);
  for (const { operation, path } of routes) {
    if (operationIn(bundle, operation) === undefined)
      throw new Error(`the bundle has no ${operation.method} ${path}`);
  }
  return (request: Request, _response: Response, next: NextFunction): void => {
    const { context, headers, body } = request;
    const { operation, params, query } = context;
    if (operation === undefined) {
      next();
      return;
    }
    // A longer text is inline media, which is checked while the body is read.
    const maxTextBytes = bodyLimits(operation, Number.POSITIVE_INFINITY).textBytes;
    requirePlainValues(params, 'path', maxTextBytes);
    requirePlainValues(query, 'query', maxTextBytes);
    if (!context.isBodyPlain) requirePlainValues(body, 'body', maxTextBytes);
    let check = checks.get(operation.id);
    if (check === undefined) {
      check = compileCheck(bundle, operation);
      checks.set(operation.id, check);
    }
    for (const name of check.lists)
      if (typeof query[name] === 'string') context.query = { ...context.query, [name]: [query[name]] };
    const { parametersPass, bodyPasses, forms } = check;
    const isValid = parametersPass({ params, query: context.query, headers });
    if (bodyPasses({ body }) && isValid) next();
    else {
      const violations = [...errorsOf(parametersPass), ...errorsOf(bodyPasses)].map(violationOf);
      const explained = violations
        .values()
        .map((violation) => explainer(operation.id, body, violation))
        .find((failure) => failure !== undefined);
      next(explained ?? new Failure(400, 'invalid_request', `${describeViolations(violations, forms)}.`));
    }
  };
}

interface RequestCheck {
  /** Converts parameters to numbers and booleans in place. */
  parametersPass: ValidateFunction;
  bodyPasses: ValidateFunction;
  /** Query parameters that are lists: repeated, or sent once. */
  lists: readonly string[];
  forms: PatternMessages;
}

function compileCheck(bundle: object, operation: Operation): RequestCheck {
  const document = tagUnions(requestDocument(bundle, operation)) as Schema;
  const { parameters, requestBody } = operationIn(document, operation) ?? {};
  const resolved = (node: Json | undefined) => dereference(document, node);
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
    forms: patternMessagesIn(document),
  };
}

function nameIn({ name }: Schema): string {
  return typeof name === 'string' ? name : '';
}

function compiler(settings: Options): Ajv2020 {
  const ajv = addFormats.default(new Ajv2020(settings), { mode: 'fast' });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  useFastLengths(ajv);
  useContractMessages(ajv);
  return ajv;
}

function errorsOf({ errors }: ValidateFunction): ErrorObject[] {
  return errors ?? [];
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
