import type { Ajv } from 'ajv';
import type { NextFunction, Request, Response } from 'express';
import type { OpenAPIV3, OpenApiRequest } from 'express-openapi-validator/dist/framework/types.js';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import type { OperationId } from '../../generated/operations.ts';
import { Failure } from '../lib/failure.ts';
import { bodyLimits } from './body-limits.ts';
import { explain, type Forms, formsOf, type Violation } from './explain.ts';
import type { Json, Schema } from './form-types.ts';
import { countLess, formats, tagUnions, useContractWords } from './keywords.ts';
import { modelFailure } from './model-failure.ts';
import { queryOf } from './query.ts';
import { type QuickCheck, quickCheck } from './quick-check.ts';
import { operationIn, requestDocument } from './request-document.ts';
import { type Operation, routes } from './routes.ts';
import { requirePlain } from './value-problem.ts';

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

const options = {
  // Values reach the handlers and the upstream as they were sent: nothing filled in, cut away or turned into dates.
  useDefaults: false,
  removeAdditional: false,
  serDesMap: {},
  allowUnknownQueryParameters: true,
  discriminator: true,
  strict: false,
  validateSchema: false,
  validateFormats: true,
  formats,
  ajvFormats: { mode: 'fast' as const },
};

/** What was made for a bundle serves every gateway of the process. */
const checksOf = new WeakMap<object, Map<OperationId, RequestCheck>>();

/**
 * express-openapi-validator's own request validators, one for each operation, made of what that operation needs when it
 * is first called: all at once would take longer than everything else at the start. Its ready-made middleware would
 * look the operation up again, compiling every path's expression for every request.
 *
 * @throws Error where the bundle lacks an operation
 */
export function contractValidator(bundle: object): Middleware {
  const made = checksOf.get(bundle) ?? new Map<OperationId, RequestCheck>();
  checksOf.set(bundle, made);
  for (const { operation, path } of routes) {
    if (operationIn(bundle, operation) === undefined)
      throw new Error(`the bundle has no ${operation.method} ${path}`);
  }
  const checkOf = (operation: Operation): RequestCheck => {
    const check = made.get(operation.id) ?? requestCheck(bundle, operation);
    made.set(operation.id, check);
    return check;
  };
  return (request, response, next) => {
    const { operation, params } = request.call;
    if (operation === undefined) {
      next();
      return;
    }
    // What is longer is inline media, which was looked at while it came.
    const maxTextBytes = bodyLimits(operation, Number.POSITIVE_INFINITY).textBytes;
    requirePlain(params, 'path', maxTextBytes);
    requirePlain(queryOf(request), 'query', maxTextBytes);
    if (!request.call.isBodyPlain) requirePlain(request.body, 'body', maxTextBytes);
    // The validator compiles its schemas anew for each content type that it meets, down to the parameters.
    if (request.body === undefined) delete request.headers['content-type'];
    else request.headers['content-type'] = 'application/json';
    const { validator, schema, document, forms, quick } = checkOf(operation);
    // As the validator calls what it has compiled.
    const key = `${request.method}-${operation.path}-${request.headers['content-type'] ?? 'not_provided'}`;
    if (quick.get(key)?.(request, params)) {
      next();
      return;
    }
    request.params = { ...params };
    (request as OpenApiRequest).openapi = {
      expressRoute: operation.path,
      openApiRoute: operation.path,
      // The very ones that the handler gets: what is a number in the contract becomes one.
      pathParams: params,
      schema: schema as unknown as OpenAPIV3.OperationObject,
      serial: 0,
    };
    try {
      // It answers through `next`; the promise of its type is never made.
      void validator.validate(request as OpenApiRequest, response, next);
      if (!quick.has(key)) quick.set(key, quickCheck(ajvsOf(validator), key, schema, document));
    } catch (error) {
      next(asFailure(error, operation.id, request.body, forms));
    }
  };
}

interface RequestCheck {
  validator: RequestValidator;
  /** The operation as its validator knows it. */
  schema: Schema;
  document: Json;
  forms: Forms;
  /** By the method and the kind of the body. */
  quick: Map<string, QuickCheck | undefined>;
}

/** Schemas are compiled at the first call of its `validate`. */
function requestCheck(bundle: object, operation: Operation): RequestCheck {
  const document = tagUnions(requestDocument(bundle, operation)) as Schema;
  const validator = new RequestValidator(document as unknown as OpenAPIV3.DocumentV3_1, options);
  for (const ajv of ajvsOf(validator)) {
    countLess(ajv);
    useContractWords(ajv);
  }
  const schema = operationIn(document, operation) ?? {};
  return { validator, schema, document, forms: formsOf(document), quick: new Map() };
}

/** Its two schema compilers, which its types keep private. */
function ajvsOf(validator: RequestValidator): readonly [parameters: Ajv, bodies: Ajv] {
  const { ajv, ajvBody } = validator as unknown as { ajv: Ajv; ajvBody: Ajv };
  return [ajv, ajvBody];
}

interface ContractError {
  status: number;
  message: string;
  errors: Violation[];
}

function asFailure(error: unknown, operation: string, body: unknown, forms: Forms): unknown {
  if (!isContractError(error)) return error;
  for (const violation of error.errors) {
    const failure = modelFailure(operation, body, violation);
    if (failure !== undefined) return failure;
  }
  const message = explain(error.errors, forms);
  const status = error.status === 415 ? 415 : 400;
  return new Failure(
    status,
    status === 415 ? 'unsupported_media_type' : 'invalid_request',
    `${message === '' ? error.message : message}.`,
    { cause: error },
  );
}

function isContractError(error: unknown): error is ContractError {
  return error instanceof Error && 'status' in error && 'errors' in error && Array.isArray(error.errors);
}
