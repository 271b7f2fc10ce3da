import type { Ajv } from 'ajv';
import type { NextFunction, Request, Response } from 'express';
import { OpenApiSpecLoader } from 'express-openapi-validator/dist/framework/openapi.spec.loader.js';
import type { OpenAPIV3, OpenApiRequest } from 'express-openapi-validator/dist/framework/types.js';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import { SchemaPreprocessor } from 'express-openapi-validator/dist/middlewares/parsers/schema.preprocessor.js';
import { Failure } from '../failure.ts';
import { bodyLimits } from './body-limits.ts';
import { explain, type Forms, formsOf, type Violation } from './explain.ts';
import { countLess, formats, tagUnions, tellNot } from './keywords.ts';
import { modelFailure } from './model-failure.ts';
import { routes } from './routes.ts';
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

/**
 * express-openapi-validator's own request validator, handed the operation that a request belongs to. Its ready-made
 * middleware would look that up again, compiling every path's expression for every request.
 */
export async function contractValidator(bundle: object): Promise<Middleware> {
  const forms = formsOf(bundle);
  const source = tagUnions(withoutResponses(structuredClone(bundle) as Bundle));
  const { apiDoc } = await new OpenApiSpecLoader({
    apiDoc: source as OpenAPIV3.DocumentV3_1,
    validateApiSpec: true,
    $refParser: { mode: 'bundle' },
  }).load();
  new SchemaPreprocessor(apiDoc, options, false as never).preProcess();
  const validator = new RequestValidator(apiDoc, options);
  for (const ajv of ajvsOf(validator)) {
    countLess(ajv);
    tellNot(ajv);
  }
  const documented = apiDoc.paths as Record<string, Record<string, OpenAPIV3.OperationObject>>;
  const schemas = new Map(
    routes.map(({ operation, path }) => {
      const schema = documented[operation.path]?.[operation.method];
      if (schema === undefined) throw new Error(`the bundle has no ${operation.method} ${path}`);
      return [operation.id, schema] as const;
    }),
  );
  return (request, response, next) => {
    const { operation, params } = request.call;
    const schema = operation === undefined ? undefined : schemas.get(operation.id);
    if (operation === undefined || schema === undefined) {
      next();
      return;
    }
    // What is longer is inline media, which was looked at while it came.
    const maxTextBytes = bodyLimits(operation, Number.POSITIVE_INFINITY).textBytes;
    for (const [whole, value] of [
      ['path', params],
      ['query', request.query],
      ['body', request.body],
    ] as const)
      requirePlain(value, whole, maxTextBytes);
    // The validator compiles all schemas anew for each content type that it meets, down to the parameters.
    if (request.body === undefined) delete request.headers['content-type'];
    else request.headers['content-type'] = 'application/json';
    (request as OpenApiRequest).openapi = {
      expressRoute: operation.path,
      openApiRoute: operation.path,
      // The very ones that the handler gets: what is a number in the contract becomes one.
      pathParams: params,
      schema,
      serial: 0,
    };
    try {
      // It answers through `next`; the promise of its type is never made.
      void validator.validate(request as OpenApiRequest, response, next);
    } catch (error) {
      next(asFailure(error, operation.id, request.body, forms));
    }
  };
}

/** Its two schema compilers, which its types keep private. */
function ajvsOf(validator: RequestValidator): readonly Ajv[] {
  const { ajv, ajvBody } = validator as unknown as { ajv: Ajv; ajvBody: Ajv };
  return [ajv, ajvBody];
}

interface Bundle {
  paths: Record<string, Record<string, { responses?: object }>>;
}

/** Only requests are checked here; what is not read need not be loaded. */
function withoutResponses(bundle: Bundle): Bundle {
  for (const item of Object.values(bundle.paths)) {
    for (const operation of Object.values(item)) {
      if ('responses' in operation) operation.responses = { default: { description: '' } };
    }
  }
  return bundle;
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
