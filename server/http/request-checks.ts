import { createRequire } from 'node:module';
import type { Options, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { OperationId } from '../../generated/operations.ts';
import { dereference, isSchema, type Json, property, type Schema } from './contract-schema.ts';
import { formats, tagUnions, useFastLengths } from './keywords.ts';
import { type Operation, routes } from './routes.ts';

/** Values reach the handlers as they were sent: no defaults, nothing removed. */
const options: Options = { strict: false, validateSchema: false, discriminator: true, verbose: true };

export interface RequestCheck {
  /** Converts parameters to numbers and booleans in place. */
  readonly areParametersValid: ValidateFunction;
  readonly isBodyValid: ValidateFunction;
  /** Query parameters that are lists: repeated, or sent once. */
  readonly lists: readonly string[];
}

/** Checks of all operations, which share the components of the contract. */
export class RequestChecks {
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

/** Ajv is loaded here, because its 76 files would delay the start. */
function compiler(settings: Options): Ajv2020 {
  const require = createRequire(import.meta.url);
  const { Ajv2020, str } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats');
  const ajv = addFormats.default(new Ajv2020(settings), { mode: 'fast' });
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  useFastLengths(ajv, str);
  return ajv;
}
