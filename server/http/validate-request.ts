import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { NextFunction, Request, Response } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { bodyLimits } from './body-limits.ts';
import { dereference, isSchema, type Json, property, type Schema } from './contract-schema.ts';
import { describeViolations, type Violation, violationOf } from './explain.ts';
import { formats, tagUnions, useFastLengths } from './keywords.ts';
import { type Operation, routes } from './routes.ts';
import { requirePlainValues } from './value-problem.ts';

/** Values reach the handlers as they were sent: no defaults, nothing removed. */
const options: Options = { strict: false, validateSchema: false, discriminator: true, verbose: true };

/** A failure with more specific words for a violation than the schema has. Undefined: the schema's words are used. */
export type ViolationExplainer = (
  operation: OperationId,
  body: unknown,
  violation: Violation,
) => Failure | undefined;

/** Checks by bundle. All applications of the process share them. */
const checksByBundle = new WeakMap<object, RequestChecks>();

/**
 * Validates path, query, headers and body of a request against its operation in the OpenAPI bundle. Parameters get the
 * types of the contract. The body is unchanged. Schemas are compiled at the first request of an operation.
 *
 * @throws Error when the bundle lacks an operation. The middleware fails with Failure 400, which names the field.
 */
export function validateRequest(bundle: object, explainer: ViolationExplainer = () => undefined) {
  const checks = checksOf(bundle);
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
    const { lists, areParametersValid, isBodyValid } = checks.of(operation.id);
    for (const name of lists)
      if (typeof query[name] === 'string') context.query = { ...context.query, [name]: [query[name]] };
    const isValid = areParametersValid({ params, query: context.query, headers });
    if (isBodyValid({ body }) && isValid) {
      next();
      return;
    }
    const errors = [...(areParametersValid.errors ?? []), ...(isBodyValid.errors ?? [])];
    next(failureOf(errors, explainer, operation.id, body));
  };
}

function failureOf(
  errors: readonly ErrorObject[],
  explainer: ViolationExplainer,
  operation: OperationId,
  body: unknown,
): Failure {
  const violations = errors.map(violationOf);
  const explained = violations
    .values()
    .map((violation) => explainer(operation, body, violation))
    .find((failure) => failure !== undefined);
  return explained ?? new Failure(400, 'invalid_request', `${describeViolations(violations)}.`);
}

/** Returns a function that finds the failure of a body under the schema of an operation. Undefined: the body is valid. */
export function bodyCheck(
  bundle: object,
  explainer: ViolationExplainer,
): (operation: OperationId, body: unknown) => Failure | undefined {
  const checks = checksOf(bundle);
  return (operation, body) => {
    const { isBodyValid } = checks.of(operation);
    return isBodyValid({ body })
      ? undefined
      : failureOf(isBodyValid.errors ?? [], explainer, operation, body);
  };
}

/** Returns whether a body meets the schema of an operation. */
export function bodyTest(bundle: object): (operation: OperationId, body: unknown) => boolean {
  const checks = checksOf(bundle);
  return (operation, body) => checks.of(operation).isBodyValid({ body });
}

/** Returns the checks of a bundle. @throws Error when the bundle lacks an operation */
function checksOf(bundle: object): RequestChecks {
  const checks = checksByBundle.get(bundle) ?? new RequestChecks(bundle);
  checksByBundle.set(bundle, checks);
  return checks;
}

interface RequestCheck {
  /** Converts parameters to numbers and booleans in place. */
  readonly areParametersValid: ValidateFunction;
  readonly isBodyValid: ValidateFunction;
  /** Query parameters that are lists: repeated, or sent once. */
  readonly lists: readonly string[];
}

/** Checks of all operations, which share the components of the contract. */
class RequestChecks {
  readonly #parameters = compiler({ ...options, coerceTypes: true });
  readonly #bodies = compiler(options);
  readonly #lists: ReadonlyMap<OperationId, readonly string[]>;
  readonly #compiled = new Map<OperationId, RequestCheck>();

  /** @throws Error when the bundle lacks an operation */
  constructor(bundle: object) {
    const root = bundle as Json;
    const requests = routes.map(({ operation }) => [operation.id, requestSchemas(root, operation)] as const);
    this.#lists = new Map(requests.map(([id, { lists }]) => [id, lists]));
    const components = { schemas: property(property(root, 'components'), 'schemas') };
    const document = tagUnions(structuredClone({ components, requests: Object.fromEntries(requests) }));
    for (const ajv of [this.#parameters, this.#bodies]) ajv.addSchema(document, 'contract');
  }

  of(id: OperationId): RequestCheck {
    const compiled = this.#compiled.get(id);
    if (compiled !== undefined) return compiled;
    const check = {
      areParametersValid: compile(this.#parameters, `contract#/requests/${id}/parameters`),
      isBodyValid: compile(this.#bodies, `contract#/requests/${id}/body`),
      lists: this.#lists.get(id) ?? [],
    };
    this.#compiled.set(id, check);
    return check;
  }
}

/** The schemas of a request's parameters and body. */
function requestSchemas(root: Json, { path, method }: Operation) {
  const item = property(property(root, 'paths'), path);
  const operation = property(item, method);
  if (!isSchema(operation)) throw new Error(`the bundle has no ${method} ${path}`);
  const all = [property(item, 'parameters'), operation.parameters]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((parameter) => dereference(root, parameter));
  const schemaOf = (place: string): Schema => {
    const here = all.filter((parameter) => parameter.in === place);
    const nameOf = (one: Schema) => (place === 'header' ? nameIn(one).toLowerCase() : nameIn(one));
    return {
      type: 'object',
      properties: Object.fromEntries(here.map((one) => [nameOf(one), one.schema ?? {}])),
      required: here.filter(({ required }) => required === true).map(nameOf),
    };
  };
  const { content, required } = dereference(root, operation.requestBody);
  const json = dereference(root, property(content, 'application/json'));
  return {
    parameters: {
      properties: { params: schemaOf('path'), query: schemaOf('query'), headers: schemaOf('header') },
    },
    body: { properties: { body: json.schema ?? {} }, required: required === true ? ['body'] : [] },
    lists: all
      .filter(({ in: place, schema }) => place === 'query' && dereference(root, schema).type === 'array')
      .map(nameIn),
  };
}

function nameIn({ name }: Schema): string {
  return typeof name === 'string' ? name : '';
}

function compile(ajv: Ajv2020, reference: string): ValidateFunction {
  const validate = ajv.getSchema(reference);
  if (validate === undefined) throw new Error(`the bundle has no ${reference}`);
  return validate;
}

function compiler(settings: Options): Ajv2020 {
  const ajv = addFormats.default(new Ajv2020(settings), { mode: 'fast' });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  useFastLengths(ajv);
  return ajv;
}
