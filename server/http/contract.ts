import type { NextFunction, Request, Response } from 'express';
import { OpenApiSpecLoader } from 'express-openapi-validator/dist/framework/openapi.spec.loader.js';
import type {
  OpenAPIV3,
  OpenApiRequest,
  ValidationErrorItem,
} from 'express-openapi-validator/dist/framework/types.js';
import { RequestValidator } from 'express-openapi-validator/dist/middlewares/openapi.request.validator.js';
import { SchemaPreprocessor } from 'express-openapi-validator/dist/middlewares/parsers/schema.preprocessor.js';
import { Failure } from '../failure.ts';
import { formats } from './formats.ts';
import { mediaFailure } from './media-failure.ts';
import { patternWords } from './pattern-words.ts';
import { routes } from './routes.ts';
import { tagUnions } from './tag-unions.ts';

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
 * express-openapi-validator's own request validator, told which operation a request belongs to. Its ready-made
 * middleware would look that up again, compiling every path's expression for every request.
 */
export async function contractValidator(bundle: object): Promise<Middleware> {
  const source = tagUnions(withoutResponses(structuredClone(bundle) as Bundle));
  const { apiDoc } = await new OpenApiSpecLoader({
    apiDoc: source as OpenAPIV3.DocumentV3_1,
    validateApiSpec: true,
    $refParser: { mode: 'bundle' },
  }).load();
  new SchemaPreprocessor(apiDoc, options, false as never).preProcess();
  const validator = new RequestValidator(apiDoc, options);
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
    // The validator compiles all schemas anew for each content type that it meets, down to the parameters.
    if (request.body === undefined) delete request.headers['content-type'];
    else request.headers['content-type'] = 'application/json';
    (request as OpenApiRequest).openapi = {
      expressRoute: operation.path,
      openApiRoute: operation.path,
      pathParams: { ...params },
      schema,
      serial: 0,
    };
    try {
      // It answers through `next`; the promise of its type is never made.
      void validator.validate(request as OpenApiRequest, response, next);
    } catch (error) {
      next(asFailure(error, operation.id, request.body));
    }
  };
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
  errors: ValidationErrorItem[];
}

function asFailure(error: unknown, operation: string, body: unknown): unknown {
  if (!isContractError(error)) return error;
  for (const violation of error.errors) {
    const failure = mediaFailure(operation, body, violation);
    if (failure !== undefined) return failure;
  }
  const isOf = ({ errorCode = '' }: ValidationErrorItem, keywords: RegExp) => keywords.test(errorCode);
  const patterns = new Set(error.errors.filter((one) => isOf(one, /^pattern\./)).map(({ path }) => path));
  const items = error.errors
    .filter((one) => !isOf(one, /^(if|oneOf|anyOf|discriminator)\./))
    // An address of the wrong kind need not be told that it is none.
    .filter((one) => !(isOf(one, /^format\./) && patterns.has(one.path)));
  const told = (items.length === 0 ? error.errors : items).slice(0, 3);
  const message = told.map(explain).join('; ');
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

function explain({ path, message }: ValidationErrorItem): string {
  const unknownTag = /^value of tag "(.+)" must be in oneOf$/.exec(message);
  if (unknownTag !== null)
    return `${fieldName(`${path}/${unknownTag[1]}`)}: has a value this route does not know`;
  const missingTag = /^tag "(.+)" must be string$/.exec(message);
  if (missingTag !== null) return `${fieldName(`${path}/${missingTag[1]}`)}: is required, as a string`;
  const [, pattern] = /^must match pattern "(.+)"$/.exec(message) ?? [];
  const words = pattern === undefined ? undefined : patternWords(pattern);
  if (words !== undefined) return `${fieldName(path)}: ${words}`;
  const [, most] = /^must contain at least 0 and no more than (\d+) valid/.exec(message) ?? [];
  if (most !== undefined) return `${fieldName(path)}: must have at most ${most} items of one kind`;
  if (message === 'must match format "uri"') return `${fieldName(path)}: must be a valid URL`;
  const missing = /^must have required property '.+'$/.test(message);
  return `${fieldName(path)}: ${missing ? 'is required' : message}`;
}

/** `/body/input/text` → `input.text`, `/query/limit` → `limit`, `/body` → `body`. */
function fieldName(path: string): string {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.length > 1 ? parts.slice(1).join('.') : (parts[0] ?? 'body');
}
