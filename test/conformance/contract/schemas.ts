import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { bundle, type Located } from './documented.ts';
import { readDocument } from './read-document.ts';

/** The AsyncAPI bundle. */
export const eventBundle = readDocument('asyncapi');

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addFormat('binary', true);
ajv.addSchema({ ...bundle, $id: 'openapi' });
ajv.addSchema({ ...eventBundle, $id: 'asyncapi' });

const compiled = new Map<string, ValidateFunction>();

function errorsOf(reference: string, value: unknown): ErrorObject[] {
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

const check = (reference: string, value: unknown): string[] => errorsOf(reference, value).map(explain);

const explain = ({ instancePath, message, params }: ErrorObject) =>
  `${instancePath === '' ? '(whole)' : instancePath} ${message ?? ''} ${JSON.stringify(params)}`;

/** Validates a value against a schema of the OpenAPI document. Returns the violations. */
export const schemaProblems = ({ pointer }: Located, value: unknown): string[] =>
  check(`openapi${pointer}`, value);

/** Does the same and returns the errors of Ajv. */
export const schemaErrors = ({ pointer }: Pick<Located, 'pointer'>, value: unknown): ErrorObject[] =>
  errorsOf(`openapi${pointer}`, value);

/** Validates a value against a component schema of the AsyncAPI document. Returns the violations. */
export const eventProblems = (name: string, value: unknown): string[] =>
  check(`asyncapi#/components/schemas/${name}`, value);
